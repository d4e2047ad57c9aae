/* SPDX-License-Identifier: ISC */
/*
 * state.h - the states of one permit, and which state may follow which.  The wrapper, the keeper
 * and the protocol each keep the state in their own struct, as messages between them take time; but
 * a state is the same for all of them, and so are its moves.  The protocol has several steps of
 * its own in a state: a row of its table says in which.
 *
 *	IDLE -> LOCAL			the wrapper queues in the line of this machine (--local)
 *	IDLE, LOCAL -> ENTERING		the taker asks the store for a permit
 *	IDLE -> HELD			a keeper takes over a permit that another keeper had
 *	ENTERING -> WAITING		the store has a place for it in the line
 *	ENTERING, WAITING -> HELD	the store has granted it a permit
 *	ENTERING, WAITING -> ENTERING	the store has lost it, and it enters again
 *	ENTERING, WAITING, HELD -> LEAVING	the taker gives up its place, or what it has by then
 *	HELD -> RELEASING		the taker gives its permit back
 *	any -> IDLE			refused, left, released or lost
 */
#ifndef STATE_H
#define STATE_H

#include <stdbool.h>
#include <stdint.h>

enum permit_state {
	PERMIT_IDLE,      /* has nothing, and asks the store for nothing */
	PERMIT_LOCAL,     /* stands in the line of this machine; the store has nothing of it */
	PERMIT_ENTERING,  /* has asked for a permit; what the store has of it is not known */
	PERMIT_WAITING,   /* stands in the store's line */
	PERMIT_HELD,      /* has a permit */
	PERMIT_LEAVING,   /* gives up its place, or the permit if that came first */
	PERMIT_RELEASING, /* gives its permit back */
	PERMIT_STATES
};

/* A row for each state: its name, its bit, and those of the states that may follow. */
struct state_rule {
	const char *name;
	uint32_t bit, next;
};

#define STATE_BIT(state) (UINT32_C(1) << (state))

extern const struct state_rule permit_rules[PERMIT_STATES];

/* The taker has asked the store for a permit, and has none yet. */
static inline bool
permit_is_sought(enum permit_state state)
{
	return state == PERMIT_ENTERING || state == PERMIT_WAITING;
}

/*
 * Each move calls it.  Ends the process with a line on stderr if `to' may not follow `from', or if
 * what must hold in `to' does not: the caller has compared that, and `sound' says the result.  A
 * keeper that ends so is replaced by another, and a wrapper's keeper outlives it: no permit is lost,
 * and none is held twice.
 */
void state_check(const struct state_rule *from, const struct state_rule *to, bool sound);

#endif
