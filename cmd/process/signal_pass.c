/* SPDX-License-Identifier: ISC */
/*
 * signal_pass.c - which of our signals the command has had already, and where we send the others.
 *
 * A command begins in our process group.  It may leave it: setsid(1), timeout(1), an interactive
 * shell.  What a signal's sender also reaches depends on that:
 *
 * 	signal                  sent by                          besides us, it reaches  we
 * 	INT QUIT TSTP WINCH     the terminal: keys, a new size   our process group       (1)
 * 	TTIN TTOU               the terminal: its use from the   our process group       (1)
 * 	                        background
 * 	HUP CONT                the terminal's hangup, when we   nobody                  pass it on
 * 	                        are the session's leader
 * 	HUP CONT                the kernel: the leader has       our process group       (1)
 * 	                        ended, or stopped jobs are
 * 	                        orphaned
 * 	any                     the command or a descendant of   our process group       drop it, if the
 * 	                        it, by kill(0)                                           command is in
 * 	                                                                                 our group
 * 	any                     another process, to our group    our process group       pass it on: the
 * 	                                                                                 command has it
 * 	                                                                                 twice
 * 	any                     another process, to us           nobody                  pass it on
 * 	ALRM XCPU IO ...        the kernel, to us                nobody                  pass it on
 * 	CHLD                    the kernel, or anybody           nobody                  keep it
 *
 * (1) We drop it if the command is in our group, for then it has had the signal.  Else we pass it
 *     on; and if the command leads a group of its own, to that whole group, as the terminal would.
 *
 * si_code is SI_KERNEL in signals of the terminal and the kernel.  In signals of processes it is
 * SI_USER, SI_QUEUE or SI_TKILL, and si_pid is the sender.
 */
#include "signal_pass.h"

#include <unistd.h>

#include "process.h"

static bool
is_of_a_terminal(int sig)
{
	switch (sig) {
	case SIGHUP:
	case SIGINT:
	case SIGQUIT:
	case SIGTSTP:
	case SIGTTIN:
	case SIGTTOU:
	case SIGCONT:
	case SIGWINCH:
		return true;
	default:
		return false;
	}
}

static bool
stops(int sig)
{
	return sig == SIGTSTP || sig == SIGTTIN || sig == SIGTTOU;
}

/* False as well without /proc, and if the sender has ended by now: then we pass the signal on. */
static bool
comes_from_below(const siginfo_t *info, pid_t command)
{
	return (info->si_code == SI_USER || info->si_code == SI_QUEUE ||
		info->si_code == SI_TKILL) &&
	       info->si_pid > 0 && process_is_below(info->si_pid, command);
}

static bool
is_hangup_of_our_session(int sig)
{
	return (sig == SIGHUP || sig == SIGCONT) && getsid(0) == getpid();
}

static bool
had_it_already(const siginfo_t *info, bool of_terminal, pid_t command)
{
	if (of_terminal)
		return !is_hangup_of_our_session(info->si_signo);
	return comes_from_below(info, command);
}

void
signal_pass(pid_t pid, const siginfo_t *info)
{
	if (info->si_code == SI_QUEUE)
		sigqueue(pid, info->si_signo, info->si_value);
	else
		kill(pid, info->si_signo);
	if (info->si_signo == SIGTERM)
		kill(pid, SIGCONT); /* a stopped command can't end */
}

bool
signal_pass_on(pid_t command, const siginfo_t *info)
{
	bool of_terminal, in_our_group;
	int sig = info->si_signo;
	pid_t group;

	if (sig == SIGCHLD)
		return false;
	of_terminal = info->si_code == SI_KERNEL && is_of_a_terminal(sig);
	group = getpgid(command);
	in_our_group = group == getpgrp();
	if (in_our_group && had_it_already(info, of_terminal, command))
		return false;
	/*
	 * A shell's fg sends CONT to the job's group, and can't know that the command leads
	 * another.
	 */
	if (!in_our_group && group == command && (of_terminal || sig == SIGCONT))
		kill(-group, sig);
	else
		signal_pass(command, info);
	return of_terminal && !in_our_group && stops(sig);
}
