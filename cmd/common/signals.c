/* SPDX-License-Identifier: ISC */
#include "signals.h"

#include <signal.h>
#include <unistd.h>
#include <sys/resource.h>

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
