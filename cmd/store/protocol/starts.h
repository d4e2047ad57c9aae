/* SPDX-License-Identifier: ISC */
/*
 * starts.h - when a limiter of a store may start the next command: its pace, by the arithmetic of
 * lib/pace.c.
 *
 * cfg has the pace, and again what the starts so far have used of it.  A transaction that grants by a pace
 * compares again, and puts it: so no start is counted twice or not at all, and be it that its permit has
 * gone since.  A limiter that never had a pace has no such key, and none without one pays for it.
 *
 * Times are of CLOCK_REALTIME, in ns, of the machine that granted.  A granter counts from what the last one
 * wrote, or from its own time if that is later.  So starts are counted an interval apart.  As clocks differ,
 * two of them can be nearer by as much: one by a clock that is behind, and the next by another.  A clock
 * that is ahead makes the others wait for as long.  A granter that was stopped makes its start late: the
 * pace never catches up beyond its burst.
 */
#ifndef STARTS_H
#define STARTS_H

#include "keys.h"
#include "records/records.h"
#include "room.h"

/* What the starts have used: the values of again, and of at-rest in a limiter with a ramp. */
struct starts {
	uint64_t free_ns, last_ns, ramp_since_ns; /* struct paced of lib/layout.h */
	uint64_t rest_ns;
	int64_t changed; /* again's revision; 0: it is not there */
};

bool starts_are_paced(const struct flk_pace *pace);

/*
 * Reads a key of that kind, 'a' or 'r'.  False if it makes no sense; then it counts as if it were not
 * there.
 */
bool starts_read(struct starts *s, char kind, const struct record_kv *kv);

/* ---- granters ---- */

/* The pace lets nothing start before: CLOCK_MONOTONIC, ns; 0: no such time. */
uint64_t starts_next(const struct flk_pace *pace, const struct starts *s);

/* How many units the ramp has now; UINT64_MAX: it is no limit. */
uint64_t starts_capacity(const struct flk_pace *pace, const struct starts *s,
			 const struct room *room);

/* The units of which so many may be held, if one more starts now; 0: none may. */
uint64_t starts_allow(const struct flk_pace *pace, const struct starts *s, const struct room *room);

/* A permit ends with it. */
void starts_rest(struct starts *s);

/* One more starts. */
void starts_count(const struct flk_pace *pace, struct starts *s, const struct room *room);

/*
 * When a waiter of that weight, the next one, may start by the time alone: CLOCK_BOOTTIME, ns; UINT64_MAX:
 * never.  It is asked again some seconds later at the latest, as the clock may have been set.
 */
uint64_t starts_due(const struct flk_pace *pace, const struct starts *s, const struct room *room,
		    uint32_t weight);

/* Nothing, if there is no pace. */
void starts_add_compare(const struct flk_pace *pace, const struct starts *read, struct txn *x,
			const struct key *limiter);
void starts_put(const struct flk_pace *pace, const struct starts *s, struct txn *x,
		const struct key *limiter);

/* A permit ends: without a ramp at-rest goes, if that look has it. */
void starts_put_rest(const struct flk_pace *pace, const struct starts *read, struct txn *x,
		     const struct key *limiter);

/* ---- operators, and takers that declare a pace ---- */

/* Changes those parts of it, and what was used of them. */
void starts_pace(struct flk_pace *pace, struct starts *s, unsigned which,
		 const struct flk_pace *to);
bool starts_same_pace(const struct flk_pace *a, const struct flk_pace *b);

/*
 * Puts all of it, as it was changed, if nothing has started since; at-rest is there while there is a ramp.
 * What was used stays when a pace ends: off and on again forgives nothing.
 */
void starts_put_all(const struct flk_pace *pace, const struct starts *s, struct txn *x,
		    const struct key *limiter);

/* With the limiter. */
void starts_delete(struct txn *x, const struct key *limiter);

#endif
