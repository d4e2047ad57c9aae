/* SPDX-License-Identifier: ISC */
/*
 * signals.h - what signals do to a process by default.
 */
#ifndef SIGNALS_H
#define SIGNALS_H

#include <stdbool.h>

/* A fault of the process itself causes this signal: it must never be blocked. */
bool signal_is_fault(int sig);

/* This signal ends the process, and can be caught. */
bool signal_ends(int sig);

/*
 * Ends this process by that signal, without a core file, so that the parent sees the true cause.
 * Returns if the signal can't end it: process 1 of a PID namespace ignores its own signals.
 */
void signal_die(int sig);

#endif
