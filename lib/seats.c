/* SPDX-License-Identifier: ISC */
/*
 * seats.c - which seats a permit has.
 *
 * Where the limit is at most 64, a permit has a seat for each of its units: the smallest that no
 * other permit has, that no operator took out of use, and that its owner did not exclude.  Under a
 * higher limit it has one.
 *
 * The granter writes the set before its commit.  A permit that shrinks keeps its lowest seats: the
 * store to `weight' says how many, and `seats' stays as it is.  So a kill has no place between the
 * two.
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
flki_seats_of_weight(uint64_t seats, uint32_t weight)
{
	return seats != 0 ? flki_seats_lowest(seats, weight) : 0;
}

uint64_t
flki_seats_of(const struct slot *s)
{
	return flki_seats_of_weight(s->seats, s->weight);
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
	return s->weight <= flki_seats_count(s->seats) &&
	       s->seat == (uint32_t)__builtin_ctzll(s->seats);
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
