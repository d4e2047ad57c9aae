/* SPDX-License-Identifier: ISC */
#include "shell.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>
#include <sys/wait.h>

#include "now.h"
#include "pidfd.h"
#include "spawn.h"

#define TICK (SECOND / 100) /* of a look, without a pidfd */

int
shell_start(struct shell *s, const char *line, char *item, const struct heritage *h)
{
	char *argv[] = { (char *)(uintptr_t) "/bin/sh",
			 (char *)(uintptr_t) "-c",
			 (char *)(uintptr_t)line,
			 item != NULL ? (char *)(uintptr_t) "sh" : NULL,
			 item,
			 NULL };
	int error;

	s->pid = spawn(argv, environ, h, &error);
	if (s->pid == -1)
		return errno;
	s->pidfd = flki_pidfd_open(s->pid);
	if (error != 0)
		shell_end(s);
	return error;
}

static bool
has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
	       info.si_pid == pid;
}

enum shell_news
shell_await(const struct shell *s, int out, uint64_t until, const sigset_t *mask)
{
	struct pollfd ready[] = { { .fd = s->pidfd, .events = POLLIN },
				  { .fd = out, .events = POLLIN } };
	struct timespec left;
	uint64_t now;

	while (!has_ended(s->pid)) {
		if ((now = now_ns()) >= until)
			return SHELL_LATE;
		left = flki_timespec(s->pidfd == -1 && until - now > TICK ? TICK : until - now);
		if (ppoll(ready, 2, &left, mask) == -1) {
			if (mask != NULL)
				return has_ended(s->pid) ? SHELL_ENDED : SHELL_LATE;
		} else if (ready[1].revents != 0) {
			return SHELL_OUTPUT;
		}
	}
	return SHELL_ENDED;
}

int
shell_end(struct shell *s)
{
	int status = -1;

	while (waitpid(s->pid, &status, 0) == -1 && errno == EINTR)
		;
	if (s->pidfd != -1)
		close(s->pidfd);
	return status;
}
