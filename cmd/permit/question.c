/* SPDX-License-Identifier: ISC */
#include "question.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "descriptor.h"
#include "explain.h"
#include "now.h"
#include "say.h"
#include "shell.h"
#include "spawn.h"

#define LONGEST (60 * SECOND) /* an answer that takes longer is a no */

/*
 * It has no part in the permit, reads nothing, and writes to stderr.  All that it starts is in a
 * process group of its own, so that the kill of a question leaves nothing.
 */
static int
start(struct shell *shell, const struct question *q)
{
	struct heritage h = *q->heritage;
	int error, null = flki_above_stdio(open("/dev/null", O_RDWR | O_CLOEXEC));

	h.guard_fd = -1;
	h.taker = NULL;
	h.n_more = 0;
	h.own_group = true;
	h.stdio[0] = null;
	h.stdio[1] = h.stdio[2] = fcntl(STDERR_FILENO, F_GETFD) != -1 ? STDERR_FILENO : null;
	error = shell_start(shell, q->line, NULL, &h);
	if (null != -1)
		close(null);
	return error;
}

bool
question_ask(void *question)
{
	const struct question *q = question;
	uint64_t until = now_ns() + LONGEST;
	struct shell shell;
	int status, error = start(&shell, q);

	if (error != 0) {
		say(q->limiter, "--when-run: /bin/sh: %s%s", strerror(error), remedy_for(error));
		return false;
	}
	if (shell_await(&shell, -1, q->deadline < until ? q->deadline : until, q->mask) ==
	    SHELL_LATE)
		kill(-shell.pid, SIGKILL);
	status = shell_end(&shell);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
