/* SPDX-License-Identifier: ISC */
/*
 * seats.c - which seats a permit has.
 *
 * Where the limit is at most 64, a permit has a seat for each of its units: the smallest that no
 * other permit has, that no operator took out of use, and that its owner did not exclude.  Under a
 * higher limit it has one.
 *
 * The granter writes the set before its commit.  The smallest is the permit's own seat, `seat', which
 * its command was told, and which stays to its end.  A permit that shrinks keeps that one, and the lowest
 * of the others: the store to `weight' says how many, and `seats' stays as it is.  So a kill has no place
 * between the two.  One that grows may get a lower seat than those that it has; so it first forgets, in
 * `seats', those that it gave back, then says by `weight' how many it will have, and gets them by the
 * store to `seats', which is the commit.  If it is killed before that, there are fewer than `weight' says,
 * and a rebuild makes `weight' what there are.
 */
#include "state.h"

uint64_t
flki_seats_lowest(uint64_t set, uint32_t count)
{
	uint64_t rest = set;

	for (; count > 0 && rest != 0; count--)
		rest &= rest - 1;
	return set ^ rest;
}

uint32_t
flki_seats_count(uint64_t set)
{
	return (uint32_t)__builtin_popcountll(set);
}

uint64_t
flki_seats_of_weight(uint64_t seats, uint32_t own, uint32_t weight)
{
	uint64_t first = UINT64_C(1) << own % SEATS;

	return seats != 0 ? first | flki_seats_lowest(seats & ~first, weight - (weight > 0)) : 0;
}

uint64_t
flki_seats_of(const struct slot *s)
{
	return flki_seats_of_weight(s->seats, s->seat, s->weight);
}

bool
flki_seats_have(const struct slot *s, uint32_t seat)
{
	uint64_t set = flki_seats_of(s);

	return set != 0 ? seat < SEATS && (set >> seat & 1) != 0 : s->seat == seat;
}

/* There are so many seats at most: one for each slot, and 64 that permits don't want. */
bool
flki_seats_are_sane(const struct slot *s, uint32_t n)
{
	if (s->seats == 0)
		return s->seat < n + SEATS;
	return s->weight <= flki_seats_count(s->seats) && s->seat < SEATS &&
	       (s->seats >> s->seat & 1) != 0;
}

/* ---- the map ---- */

bool
flki_state_seats_are_taken(struct state *st, const struct slot *s)
{
	uint64_t set = flki_seats_of(s);

	if (set != 0)
		return (flki_state_at(st, 0)->seat_bits & set) != 0;
	return (flki_state_at(st, s->seat / 64)->seat_bits >> s->seat % 64 & 1) != 0;
}

/* Of a permit with one unit, `seat' is the only one also where there is a set. */
void
flki_state_mark_seats(struct state *st, const struct slot *s, bool taken)
{
	uint64_t set = s->weight > 1 ? flki_seats_of(s) : 0, *map;
	uint32_t word = set != 0 ? 0 : s->seat / 64;

	if (set == 0)
		set = UINT64_C(1) << s->seat % 64;
	map = &flki_state_at(st, word)->seat_bits;
	*map = taken ? *map | set : *map & ~set;
	if (!taken && word < st->h->seat_hint)
		st->h->seat_hint = word;
}

/* seat_hint saves the look at the words that are known to be full. */
static uint32_t
free_seat(struct state *st, uint64_t excluded)
{
	uint32_t words = st->n / 64 + 2, k, w;

	for (k = 0; k < words; k++) {
		w = (st->h->seat_hint + k) % words;
		uint64_t map = flki_state_at(st, w)->seat_bits | (w == 0 ? excluded : 0);
		if (map != UINT64_MAX) {
			if (excluded == 0)
				st->h->seat_hint = w;
			return w * 64 + (uint32_t)__builtin_ctzll(~map);
		}
	}
	st->bad = true; /* more seats are taken than there are slots */
	return 0;
}

/* ---- what a waiter gets ---- */

/*
 * Its seats are below this.  A permit that is granted although less is left than it asks for, and
 * so runs alone, has those of its own limit.
 */
static uint32_t
seats_end(const struct slot *s, uint32_t limit)
{
	return s->weight > limit ? s->limit : limit;
}

uint32_t
flki_state_seats_lost(struct state *st, uint32_t limit)
{
	uint64_t taken = flki_state_at(st, 0)->seat_bits;

	return flki_seats_count(st->h->seats_off & ~taken & flki_seats_below(limit));
}

uint32_t
flki_state_seats_for(struct state *st, const struct slot *s, uint32_t limit)
{
	uint64_t excluded = flki_seats_excluded(st->h, s);
	uint32_t end = seats_end(s, limit);

	if (excluded == 0)
		return UINT32_MAX; /* the units suffice, and so do the seats */
	if (end > SEATS)
		return free_seat(st, excluded) < end ? UINT32_MAX : 0;
	return flki_seats_count(flki_seats_below(end) &
				~(flki_state_at(st, 0)->seat_bits | excluded));
}

void
flki_state_choose_seats(struct state *st, struct slot *s, uint32_t limit)
{
	uint64_t excluded = flki_seats_excluded(st->h, s), set;

	if (seats_end(s, limit) <= SEATS) {
		set = flki_seats_lowest(~(flki_state_at(st, 0)->seat_bits | excluded), s->weight);
		/* both always, in a file that is right */
		if (set != 0 && (s->weight == 1 || flki_seats_count(set) == s->weight)) {
			s->seats = set;
			s->seat = (uint32_t)__builtin_ctzll(set);
			return;
		}
	}
	s->seats = 0;
	s->seat = free_seat(st, excluded);
}

/* ---- growth ---- */

/* How many units more holder s may have: all that is free, if no taker waits for it. */
static uint32_t
room_to_grow(struct state *st, const struct slot *s, uint32_t units)
{
	const struct header *h = st->h;
	uint64_t taken = h->used + h->withheld, limit = flki_state_limit(st, s->limit);
	uint32_t most = s->most > s->weight ? s->most - s->weight : 0;

	if (h->paused || h->closed || h->waiting.count > h->barriers || limit <= taken)
		return 0;
	if (units > most)
		units = most;
	return limit - taken < units ? (uint32_t)(limit - taken) : units;
}

uint32_t
flki_state_grow(struct state *st, uint32_t i, uint32_t units)
{
	struct slot *s = flki_state_at(st, i);
	uint64_t had = flki_seats_of(s), more = 0;

	units = room_to_grow(st, s, units);
	if (had != 0) {
		more = flki_seats_below(flki_state_limit_said(st, s->limit)) &
		       ~(flki_state_at(st, 0)->seat_bits | flki_seats_excluded(st->h, s));
		more = flki_seats_lowest(more, units);
		units = flki_seats_count(more);
	}
	if (units == 0)
		return 0;
	if (flki_fair_has_key(s))
		flki_fair_grow(s, units);
	flki_state_store(&s->seats, had);
	__atomic_store_n(&s->weight, s->weight + units, __ATOMIC_RELEASE);
	/* The commit; of a permit without a set, `weight' was it. */
	__atomic_store_n(&s->seats, had | more, __ATOMIC_RELEASE);
	flki_state_mark_seats(st, s, true);
	st->h->used += units;
	flki_state_note(st, FLK_EV_GREW, i, (int32_t)units);
	return units;
}
