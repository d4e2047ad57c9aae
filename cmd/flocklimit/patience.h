/* SPDX-License-Identifier: ISC */
/*
 * patience.h - when another taker keeps everyone out of the limiter, because it is stopped there or
 * gets no CPU time: print a line once, and wait on until our own deadline.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct taker_options;

struct patience {
	const struct taker_options *want;
	bool quiet;
	const sigset_t *mask; /* of the signals that may end or stop us while we wait */
	uint64_t since;       /* ns; 0: no taker has kept us out yet */
	pid_t said;           /* the line was about this process; -1: no line yet */
	bool is_over;         /* the wait for the permit is over: do not wait at all */
};

/* For struct flk_options, with a struct patience. */
bool patience_stuck(void *patience, pid_t pid);

#endif
