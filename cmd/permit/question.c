/* SPDX-License-Identifier: ISC */
#include "question.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "explain.h"
#include "now.h"
#include "pidfd.h"
#include "say.h"
#include "spawn.h"

#define LONGEST (60 * SECOND) /* an answer that takes longer is a no */
#define TICK    (SECOND / 100)

/*
 * It is no command of the permit's: it has no part in it, reads nothing, and writes to stderr.  All
 * that it starts is in a process group of its own, so that the kill of a question leaves nothing.
 */
static pid_t
start(const struct question *q)
{
	char *argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)q->line, NULL };
	struct heritage h = *q->heritage;
	int exec_error, null;
	pid_t pid;

	h.guard_fd = -1;
	h.taker = NULL;
	h.n_more = 0;
	h.own_group = true;
	null = flki_above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));
	h.stdio[0] = null;
	h.stdio[1] = h.stdio[2] = fcntl(STDERR_FILENO, F_GETFD) != -1 ? STDERR_FILENO : null;
	pid = spawn(argv, environ, &h, &exec_error);
	if (pid == -1)
		exec_error = errno;
	if (exec_error != 0)
		say(q->limiter, "--when-run: /bin/sh: %s%s", strerror(exec_error),
		    remedy_for(exec_error));
	if (null != -1)
		close(null);
	return pid;
}

static bool
has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

/* False: a signal came, or the time is over.  Without a pidfd we look on a tick. */
static bool
await_end(pid_t pid, const struct question *q)
{
	uint64_t now = now_ns(), until = now + LONGEST;
	struct pollfd end = { .fd = flki_pidfd_open(pid), .events = POLLIN };
	struct timespec left;
	bool signalled = false;

	if (q->deadline < until)
		until = q->deadline > now ? q->deadline : now;
	for (; now < until && !signalled && !has_ended(pid); now = now_ns()) {
		left = flki_timespec(end.fd == -1 && until - now > TICK ? TICK : until - now);
		signalled = ppoll(&end, 1, &left, q->mask) == -1;
	}
	if (end.fd != -1)
		close(end.fd);
	return has_ended(pid);
}

bool
question_ask(void *question)
{
	const struct question *q = question;
	pid_t pid = start(q);
	int status = -1;

	if (pid == -1)
		return false;
	if (!await_end(pid, q))
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
