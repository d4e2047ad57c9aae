/* SPDX-License-Identifier: ISC */
/*
 * signal_wait.h - waiting for signals: they stay blocked, and are read one by one, as messages.
 */
#ifndef SIGNAL_WAIT_H
#define SIGNAL_WAIT_H

#include <signal.h>
#include <stdint.h>

/*
 * The next of these signals, which the caller has blocked; 0: the deadline (CLOCK_MONOTONIC, ns;
 * NEVER) has come; -1 and errno: this process may not wait for signals.
 */
int signal_wait(const sigset_t *set, uint64_t deadline, siginfo_t *info);

#endif
