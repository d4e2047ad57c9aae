/*
 * apart.c - processes of our own, each of which sleeps in one limiter.
 *
 * They end with us: a signal from the terminal reaches all of them, and the kernel sends SIGTERM to
 * those that are left when we are killed.
 */
#include "ctl.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "say.h"

static pid_t *child; /* those that have not ended */
static size_t children;
static bool failed; /* one could not be made */

static bool
make_room(void)
{
	pid_t *more = reallocarray(child, children + 1, sizeof(*more));

	if (more != NULL)
		child = more;
	return more != NULL;
}

/* False: it is none of ours, but a child of the program that we were before an exec. */
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
apart_begin(void)
{
	pid_t parent = getpid(), pid = -1;

	fflush(stdout); /* lest both print it */
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
apart_exit(int status)
{
	if (fflush(stdout) != 0 || ferror(stdout)) {
		say(NULL, "stdout: %s", strerror(errno));
		status = FAILED;
	}
	_exit(status);
}

/*
 * A signal that ended one of them ends us, and the kernel then ends the others: as if we were one
 * process.  This may be SIGPIPE, when nobody reads any more.
 */
static void
end_by(int sig)
{
	signal(sig, SIG_DFL);
	raise(sig);
}

int
apart_end(void)
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
