/* SPDX-License-Identifier: ISC */
#include "question.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "now.h"
#include "pidfd.h"
#include "say.h"
#include "spawn.h"

#define LONGEST (60 * SECOND) /* an answer that takes longer is a no */

/* It is no command of the permit's: it has no part in it, reads nothing, and writes to stderr. */
static pid_t
start(const struct question *q)
{
	char *argv[] = { (char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)q->line, NULL };
	struct heritage h = *q->heritage;
	int exec_error;
	pid_t pid;

	h.guard_fd = -1;
	h.taker = NULL;
	h.n_more = 0;
	h.stdio[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	h.stdio[1] = STDERR_FILENO;
	pid = spawn(argv, environ, &h, &exec_error);
	if (pid == -1 || exec_error != 0)
		say(NULL, "--when-run: /bin/sh: %s", strerror(pid == -1 ? errno : exec_error));
	if (h.stdio[0] != -1)
		close(h.stdio[0]);
	return pid;
}

/* False: a signal came, or the time is over. */
static bool
await_end(int pidfd, const struct question *q)
{
	uint64_t now = now_ns(), until = now + LONGEST;
	struct pollfd end = { .fd = pidfd, .events = POLLIN };
	struct timespec left;

	if (q->deadline < until)
		until = q->deadline > now ? q->deadline : now;
	left = flki_timespec(until - now);
	return ppoll(&end, 1, &left, q->mask) == 1;
}

bool
question_ask(void *question)
{
	const struct question *q = question;
	pid_t pid = start(q);
	int status = -1, pidfd;

	if (pid == -1)
		return false;
	pidfd = flki_pidfd_open(pid);
	if (pidfd == -1 || !await_end(pidfd, q))
		kill(pid, SIGKILL);
	if (pidfd != -1)
		close(pidfd);
	while (waitpid(pid, &status, 0) == -1 && errno == EINTR)
		;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
