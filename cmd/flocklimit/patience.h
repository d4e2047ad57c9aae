/*
 * patience.h - another taker keeps everyone out of the limiter, as it is stopped there or gets no
 * CPU time: say so once, and wait on until our own deadline.
 */
#ifndef PATIENCE_H
#define PATIENCE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct options;

struct patience {
	const struct options *o;
	const sigset_t *mask; /* of the signals that may end or stop us while we wait */
	uint64_t since;       /* ns; 0: nobody has kept us out yet */
	pid_t said;           /* -1: nothing was said */
	bool is_over;         /* there is nothing to wait for any more */
};

/* For struct flk_options, with a struct patience. */
bool patience_stuck(void *patience, pid_t pid);

#endif
