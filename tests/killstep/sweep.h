/* SPDX-License-Identifier: ISC */
/*
 * sweep.h - the kills of one operation.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "killstep.h"

#define REMAINS 16384

struct tally {
	uint64_t first, second, states, failures, ns;
	long points, most_second;
};

/* What the kills of an operation have left so far; all workers write it.  A full one knows nothing. */
struct left {
	_Atomic uint64_t first[REMAINS], second[REMAINS];
};

void sweep_seed(uint64_t seed);
/* One share of all kills; without `left' only of the first; new_only: seldom where nothing new is left. */
void sweep(struct tally *t, const struct operation *op, struct left *left, bool new_only,
	   unsigned share, unsigned shares);
/* Kills that are spread over the operation, until the time is over. */
void sample(struct tally *t, const struct operation *op, uint64_t until);
/* That one kill, or with j these two. */
void kill_at(struct tally *t, const struct operation *op, long k, long j, unsigned style);

#endif
