/* SPDX-License-Identifier: ISC */
/*
 * run.h - an operator's memory: the values of m/, a ring that only people read.
 *
 * The transaction that ends a taker puts its run there, and the one by which an operator steers the limiter
 * what that changed.  The ring has a prime number of places, so tickets at any distance from each other fill
 * all of it; what comes later takes the place of what was there.
 */
#ifndef RUN_H
#define RUN_H

#include "look.h"

#define RUN_PLACES   509 /* places for takers */
#define ORDER_PLACES 61  /* places for operators' settings */

/* How it ended; the values stand in the store. */
enum run_end {
	RUN_RELEASED, /* code: as of flk_ended() */
	RUN_LEFT,     /* code: why it left the line */
	RUN_REAPED,   /* the store had no contact for ttl and grace */
	RUN_EVICTED,  /* by an operator */
	RUN_STEERED   /* none: what an operator has set */
};

struct run {
	struct look_taker taker; /* created: of h/, if it held */
	bool held;
	int64_t ended; /* the revision */
	int64_t ended_ms;
	enum run_end end;
	int32_t code;
	uint64_t memory, cpu_ns;     /* RUN_RELEASED: as of flk_took() */
	struct person by;            /* RUN_EVICTED, RUN_STEERED */
	struct flk_settings was, is; /* RUN_STEERED */
};

/* Puts it, as ending now. */
void run_add(struct txn *x, const struct key *limiter, const struct run *r);

/* Puts what somebody changes: was as in the cfg of that revision. */
void run_add_order(struct txn *x, const struct key *limiter, int64_t config_mod,
		   const struct flk_settings *was, const struct flk_settings *is,
		   const struct person *by);

/* False if it makes no sense. */
bool run_decode(struct run *r, const struct record_kv *kv);

#endif
