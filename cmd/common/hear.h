/*
 * hear.h - waiting for signals, each of which is a message to be read.
 */
#ifndef HEAR_H
#define HEAR_H

#include <signal.h>
#include <stdint.h>

/*
 * The next of these signals, which are blocked; 0 when the deadline (CLOCK_MONOTONIC, ns; NEVER) has
 * come; -1 and errno if this process may not wait for signals.
 */
int hear(const sigset_t *set, uint64_t deadline, siginfo_t *info);

#endif
