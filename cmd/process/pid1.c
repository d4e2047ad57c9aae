/* SPDX-License-Identifier: ISC */
/*
 * pid1.c - process 1 of a PID namespace gets the orphans of all its processes as children, and each
 * stays a zombie until process 1 reaps it.
 *
 * So process 1 forks, and does nothing but reap and pass signals on.  The child does the work.  It
 * waits for its own children by pid: for commands, for a keeper, for the process that follows the
 * history for a jobserver.  A wait for any child would reap these before the code that asked for
 * them.
 */
#include "pid1.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "now.h"
#include "process.h"
#include "signal_pass.h"
#include "signal_wait.h"

/* Where a filter of system calls forbids to wait for signals, process 1 still reaps. */
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
		deaf = signal_wait(&all, NEVER, &info) == -1;
		while ((pid = waitpid(-1, &status, deaf ? 0 : WNOHANG)) > 0)
			if (pid == child)
				return exit_status_of(status);
		if (deaf)
			continue;
		/*
		 * A signal from the command may come by kill(1), and then only we got it; or by
		 * kill(0), and then the whole group has it.  We can't know which, and pass it on:
		 * the command had better get a signal twice than never.
		 */
		if (info.si_code == SI_USER && info.si_signo != SIGCHLD)
			signal_pass(child, &info);
		else
			signal_pass_on(child, &info);
	}
}

int
pid1_split(void)
{
	pid_t child;

	if (getpid() != 1)
		return -1;
	child = fork();
	/* If the fork failed, process 1 does the work itself, and orphans stay zombies. */
	return child > 0 ? keep(child) : -1;
}
