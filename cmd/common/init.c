/*
 * init.c - process 1 of a PID namespace gets the orphans of all its processes as children, and each
 * stays a zombie until it is reaped.
 *
 * A process of its own does that: whoever waits for commands, for the lender of a jobserver or for
 * a keeper waits for these by pid, and nobody takes another's child away.
 */
#include "init.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "hear.h"
#include "pass.h"
#include "want.h"

static int
exit_status(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Without a way to hear signals it still reaps. */
static int
keep(pid_t child)
{
	siginfo_t info;
	sigset_t all;
	int status;
	pid_t pid;
	bool deaf;

	memset(&all, 0xff, sizeof(all));
	for (;;) {
		deaf = hear(&all, NEVER, &info) == -1;
		while ((pid = waitpid(-1, &status, deaf ? 0 : WNOHANG)) > 0)
			if (pid == child)
				return exit_status(status);
		if (deaf)
			continue;
		/*
		 * kill(1) by the command is for us, though kill(0) by it reaches all of our group: a
		 * signal that comes twice is better than one that never arrives.
		 */
		if (info.si_code == SI_USER && info.si_signo != SIGCHLD)
			pass_always(child, &info);
		else
			pass_on(child, &info);
	}
}

int
init_split(void)
{
	pid_t child;

	if (getpid() != 1)
		return -1;
	child = fork();
	/* Without a second process the work is done all the same, and orphans stay zombies. */
	return child > 0 ? keep(child) : -1;
}
