#include "signals.h"

#include <signal.h>

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
