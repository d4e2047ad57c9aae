/* SPDX-License-Identifier: ISC */
/*
 * room.c - how much of the limiter is left for a waiter, and so whether it fits and what it gets.
 *
 * Nothing here commits: state.c asks, and grants.  What the pace, the gate and seats allow is in
 * files of their own; here it all comes together.
 */
#include "state.h"

/* The operator's override or, without one, the smallest limit that was declared. */
uint32_t
flki_state_limit_said(const struct state *st, uint32_t limit)
{
	const struct header *h = st->h;

	if (h->override >= 0)
		return (uint32_t)h->override;
	return h->min_count > 0 && h->min_limit < limit ? h->min_limit : limit;
}

/* What the pace, and the seats that are out of use, leave of it. */
static uint32_t
left_of(struct state *st, uint32_t said)
{
	uint64_t capacity = flki_pace_capacity(st);

	if (st->h->seats_off != 0)
		said -= flki_state_seats_lost(st, said);
	return capacity < said ? (uint32_t)capacity : said;
}

uint32_t
flki_state_limit(struct state *st, uint32_t limit)
{
	return left_of(st, flki_state_limit_said(st, limit));
}

/*
 * -n is a promise to the command that says it; an override of an operator takes its place.  So a
 * permit is granted only if the sum stays within its own limit and within the limit of every permit
 * held.  A weight above what an operator left, by an override or by withheld units, counts as all
 * that is left: its command runs alone.  The same is true of the first permit of a ramp that begins
 * with less than is withheld, because a ramp grows only while a permit is held.  It is not true where
 * seats are out of use, or not wanted: a command that asked for so many GPUs can't run with fewer.
 */
bool
flki_state_has_room(struct state *st, const struct slot *s)
{
	const struct header *h = st->h;
	uint32_t said = flki_state_limit_said(st, s->limit);
	uint64_t limit = left_of(st, said);

	if (h->paused || said <= h->withheld || flki_pace_start(st) > st->now_ns)
		return false;
	if (flki_seats_excluded(h, s) != 0 && flki_state_seats_for(st, s, said) < s->weight)
		return false;
	if (h->holders.count == 0)
		return true;
	return limit > h->withheld && h->used + s->weight <= limit - h->withheld;
}

/*
 * What a taker that fits gets: all that is free, but no more than it asked for at most.  A taker
 * that runs alone, because less is left than it asked for at least, counts as what it asked for.
 */
static uint32_t
chosen_weight(struct state *st, const struct slot *s)
{
	uint64_t limit, taken, left, seats;

	if (s->most <= s->least)
		return s->least;
	limit = flki_state_limit(st, s->limit);
	taken = st->h->used + st->h->withheld;
	left = limit > taken ? limit - taken : 0;
	seats = flki_state_seats_for(st, s, flki_state_limit_said(st, s->limit));
	if (left > seats)
		left = seats;
	if (left <= s->least)
		return s->least;
	return left < s->most ? (uint32_t)left : s->most;
}

void
flki_state_apportion(struct state *st, struct slot *s)
{
	s->weight = chosen_weight(st, s);
	flki_state_choose_seats(st, s, flki_state_limit_said(st, s->limit));
}
