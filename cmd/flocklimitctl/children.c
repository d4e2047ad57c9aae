/* SPDX-License-Identifier: ISC */
/*
 * children.c - child processes, each of which sleeps in one limiter.
 *
 * They end with us: a signal from the terminal reaches all of them, and if we are killed, the
 * kernel sends SIGTERM to each that is left.
 */
#include "children.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "ctl.h"
#include "say.h"

static pid_t *child; /* the children that have not ended */
static size_t children;
static bool failed; /* a fork failed */

static bool
make_room(void)
{
	pid_t *more = reallocarray(child, children + 1, sizeof(*more));

	if (more != NULL)
		child = more;
	return more != NULL;
}

/*
 * Takes it off the list.  False: it is a child of the program that this process was before an exec.
 */
static bool
strike(pid_t pid)
{
	size_t i;

	for (i = 0; i < children && child[i] != pid; i++)
		;
	if (i == children)
		return false;
	child[i] = child[--children];
	return true;
}

bool
child_begin(void)
{
	pid_t parent = getpid(), pid = -1;

	fflush(stdout); /* else both processes would print what is buffered */
	if (make_room())
		pid = fork();
	if (pid == -1) {
		say(NULL, "no process for another limiter: %s", strerror(errno));
		failed = true;
	}
	if (pid > 0)
		child[children++] = pid;
	if (pid != 0)
		return false;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(FAILED);
	return true;
}

void
child_exit(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		status = FAILED;
	}
	_exit(status);
}

/*
 * A signal that ended a child ends us too, and the kernel then ends the others, as if all of them
 * were one process.  SIGPIPE, for example, when the reader of our output has gone.
 */
static void
end_by(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

int
children_wait(void)
{
	int status, worst = failed ? FAILED : DONE;
	pid_t pid;

	while (children > 0) {
		pid = wait(&status);
		if (pid == -1 && errno != EINTR)
			break;
		if (pid == -1 || !strike(pid))
			continue;
		if (WIFSIGNALED(status))
			end_by(WTERMSIG(status));
		if (WIFEXITED(status) && WEXITSTATUS(status) > worst)
			worst = WEXITSTATUS(status);
	}
	free(child);
	child = NULL;
	failed = false;
	return worst;
}
