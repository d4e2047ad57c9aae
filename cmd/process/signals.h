/* SPDX-License-Identifier: ISC */
/*
 * signals.h - what signals do to a process by default, and which of them are blocked.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <signal.h>
#include <stdbool.h>
#include <time.h>

/* A fault of the process itself causes this signal: it must never be blocked. */
bool signal_is_fault(int sig);

/* This signal ends the process, and can be caught. */
bool signal_ends(int sig);

/*
 * Ends this process by that signal, without a core file, so that the parent sees the true cause.
 * Returns if the signal can't end it: process 1 of a PID namespace ignores its own signals.
 */
void signal_die(int sig);

/*
 * sigprocmask(2) of all 64 signals: the C library's function leaves out two or three that it uses.
 */
void signals_mask(int how, const sigset_t *set, sigset_t *old);

/* Blocks every signal but the faults. */
void signals_block(void);

/*
 * After a write(2) that gave EPIPE: takes its SIGPIPE back, which is pending if it is blocked.  Else
 * the process would pass it on to its command, as if somebody had sent it.
 */
static inline void
signals_forget_pipe(void)
{
	struct timespec at_once = { 0 };
	sigset_t pipe;

	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	sigtimedwait(&pipe, NULL, &at_once);
}

#endif
