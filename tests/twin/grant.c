/* SPDX-License-Identifier: ISC */
/*
 * grant.c - who is granted a permit, and which: by room, by seats, by the gate.
 */
#include "twin.h"

#include <string.h>

#include "clock.h"

/* ---- room ---- */

/* It has the seats below the limit, or below its own if it gets more than that. */
static uint32_t
seats_end(unsigned me)
{
	uint32_t said = naive_said_limit(naive[me].limit);

	return naive[me].least > said ? naive[me].limit : said;
}

bool
naive_may_sit(unsigned me, uint32_t seat)
{
	if (seat < SEATS && ((naive_header.seats_off | naive[me].not_seats) >> seat & 1) != 0)
		return false;
	return naive_seat_is_free(seat);
}

static uint32_t
seats_for(unsigned me)
{
	uint32_t end = seats_end(me), seat, count = 0;

	for (seat = 0; seat < end && seat < ALL_SEATS; seat++)
		count += naive_may_sit(me, seat);
	return count;
}

static void
sit(unsigned me)
{
	uint32_t seat, count;

	naive[me].each = seats_end(me) <= SEATS;
	count = naive[me].each ? naive[me].weight : 1;
	for (seat = 0; seat < ALL_SEATS; seat++) {
		naive[me].has[seat] = count > 0 && naive_may_sit(me, seat);
		count -= naive[me].has[seat];
	}
	naive[me].own = ALL_SEATS;
	naive[me].own = naive_seat(me);
}

bool
naive_has_room(unsigned me)
{
	int64_t said = (int64_t)naive_said_limit(naive[me].limit) - (int64_t)naive_header.withheld;
	int64_t limit = (int64_t)naive_limit(naive[me].limit) - (int64_t)naive_header.withheld;

	if (naive_header.paused || said <= 0)
		return false;
	if (seats_for(me) < (seats_end(me) <= SEATS ? naive[me].weight : 1))
		return false;
	return naive_next(HELD, NOBODY) == NOBODY ||
	       (int64_t)(naive_used() + naive[me].weight) <= limit;
}

/* ---- the gate ---- */

static struct {
	bool made, held, yes;
	uint64_t at;
	unsigned who;
} reading; /* of this visit */

void
naive_visit(const struct op *op)
{
	uint32_t f = op != NULL ? op->d : 0;

	memset(naive_header.told, 0, sizeof(naive_header.told));
	reading.made = naive_header.gated && (f & READING) != 0;
	reading.held = (f & HELD_TRUE) != 0;
	reading.yes = (f & YES) != 0;
	reading.at = world_clock - (f >> AGE) * MS;
	reading.who = op != NULL ? op->who : NOBODY;
}

/* One good reading, not too old, and from after the time in which the last start settled. */
static bool
gate_lets_in(unsigned me)
{
	uint64_t settled =
	    naive_header.started != 0 ? naive_header.started + naive_header.settle_ns : 0;

	if (naive[me].asks && (me != reading.who || !reading.yes))
		return false;
	return !naive_header.gated || (reading.made && reading.held && reading.at >= settled &&
				       world_clock < reading.at + 5 * SECOND);
}

/* Wakes the head, once, when nothing but a gate keeps it, and the waiter behind it. */
static void
tell_head(unsigned head)
{
	unsigned behind = naive_next(WAITING, head);

	if (!naive_header.gated && !naive[head].asks)
		return;
	if (!naive_has_room(head)) {
		naive_header.waiter = 0;
	} else if (naive_header.waiter != naive[head].ticket) {
		naive_header.waiter = naive[head].ticket;
		naive_header.told[head] = true;
		if (behind != NOBODY)
			naive_header.told[behind] = true;
	}
}

static bool
fits(unsigned me)
{
	return gate_lets_in(me) && naive_has_room(me);
}

/* All that is free, and no more than it wants; what it wants at least, if even that is not free. */
static uint32_t
gets(unsigned me)
{
	int64_t left = (int64_t)naive_limit(naive[me].limit) - (int64_t)naive_header.withheld -
		       (int64_t)naive_used();

	if (seats_end(me) <= SEATS && left > seats_for(me))
		left = seats_for(me);
	if (left < (int64_t)naive[me].least)
		return naive[me].least;
	return left > (int64_t)naive[me].most ? naive[me].most : (uint32_t)left;
}

static bool
somebody_before(unsigned me, enum slot_state state)
{
	unsigned i;

	for (i = 0; i < takers; i++)
		if (naive[i].state == state && naive[i].kind == TAKER &&
		    (state == WAITING ? naive[i].rank < naive[me].rank
				      : naive[i].ticket < naive[me].ticket))
			return true;
	return false;
}

void
naive_grant(void)
{
	bool changed = true;
	unsigned i, head;

	while (changed) {
		changed = false;
		for (i = naive_next(WAITING, NOBODY); i != NOBODY; i = naive_next(WAITING, i)) {
			if (somebody_before(i, WAITING))
				continue;
			if (naive[i].kind == BARRIER && !somebody_before(i, HELD)) {
				if (!naive_may_store())
					return;
				naive[i].state = OUT;
				naive[i].reason = 0;
				changed = true;
			} else if (naive[i].kind == TAKER && fits(i)) {
				uint64_t since = naive[i].since;
				uint32_t weight = gets(i);
				/* It seems to wait anew, if its granter dies now. */
				if (naive_lives()) {
					naive[i].since = world_clock;
					naive[i].fence = ++naive_header.fences;
					naive_turns_give(i, weight);
					if (naive_header.gated) {
						naive_header.started = world_clock;
						reading.made = false;
					}
				}
				if (!naive_may_store())
					return;
				naive[i].weight = weight;
				sit(i);
				naive[i].state = HELD;
				naive_took(false, since);
				naive_count(GRANTED);
				naive_note(FLK_EV_GRANTED, i, 0);
				naive_header.declared_before = naive_header.declared;
				naive_header.declared = naive[i].limit;
				changed = true;
			}
		}
	}
	for (head = naive_next(WAITING, NOBODY); head != NOBODY && naive[head].kind != TAKER;)
		head = naive_next(WAITING, head);
	if (head != NOBODY)
		tell_head(head);
}
