/* SPDX-License-Identifier: ISC */
#include "signals.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/syscall.h>

bool
signal_is_fault(int sig)
{
	return sig == SIGBUS || sig == SIGSEGV || sig == SIGILL || sig == SIGFPE ||
	       sig == SIGTRAP || sig == SIGABRT;
}

bool
signal_ends(int sig)
{
	switch (sig) {
	case SIGKILL:
	case SIGSTOP:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGCHLD:
	case SIGURG:
	case SIGWINCH:
		return false;
	default:
		return true;
	}
}

/*
 * kill() sends it to the process, and the calling thread, the only one that unblocks it, takes it.
 */
void
signal_die(int sig)
{
	struct rlimit none = { 0, 0 };
	sigset_t one;

	setrlimit(RLIMIT_CORE, &none);
	signal(sig, SIG_DFL);
	sigemptyset(&one);
	sigaddset(&one, sig);
	pthread_sigmask(SIG_UNBLOCK, &one, NULL);
	kill(getpid(), sig);
}

void
signals_mask(int how, const sigset_t *set, sigset_t *old)
{
	if (old != NULL)
		sigemptyset(old);
	syscall(SYS_rt_sigprocmask, how, set, old, 8);
}

void
signals_block(void)
{
	sigset_t all;
	int sig;

	memset(&all, 0xff, sizeof(all));
	for (sig = 1; sig < 32; sig++)
		if (signal_is_fault(sig))
			sigdelset(&all, sig);
	signals_mask(SIG_SETMASK, &all, NULL);
}
