/* SPDX-License-Identifier: ISC */
/*
 * where.c - who is where in the naive world: whoever wants to know looks at every taker.
 */
#include "twin.h"

static uint64_t
key(enum slot_state state, unsigned who)
{
	return state == WAITING ? naive[who].rank : naive[who].ticket;
}

unsigned
naive_next(enum slot_state state, unsigned after)
{
	unsigned i, best = NOBODY;

	for (i = 0; i < takers; i++)
		if (naive[i].state == state &&
		    (after == NOBODY || key(state, i) > key(state, after)) &&
		    (best == NOBODY || key(state, i) < key(state, best)))
			best = i;
	return best;
}

unsigned
naive_predecessor(unsigned me)
{
	unsigned i, best = NOBODY;

	for (i = 0; i < takers; i++)
		if (naive[i].state == WAITING && naive[i].rank < naive[me].rank &&
		    (best == NOBODY || naive[i].rank > naive[best].rank))
			best = i;
	return best;
}

uint64_t
naive_used(void)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < takers; i++)
		sum += naive[i].state == HELD ? naive[i].weight : 0;
	return sum;
}

uint32_t
naive_said_limit(uint32_t own)
{
	unsigned i;

	if (naive_header.override >= 0)
		return (uint32_t)naive_header.override;
	for (i = 0; i < takers; i++)
		if (naive[i].state == HELD && naive[i].limit < own)
			own = naive[i].limit;
	return own;
}

bool
naive_seat_is_free(uint32_t seat)
{
	unsigned i;

	for (i = 0; i < takers; i++)
		if (naive[i].state == HELD && naive[i].has[seat])
			return false;
	return true;
}

uint32_t
naive_limit(uint32_t own)
{
	uint32_t said = naive_said_limit(own), limit = said, seat;

	for (seat = 0; seat < SEATS && seat < said; seat++)
		if ((naive_header.seats_off >> seat & 1) != 0 && naive_seat_is_free(seat))
			limit--;
	return limit;
}

uint32_t
naive_seat(unsigned who)
{
	uint32_t seat = 0;

	if (naive[who].own < ALL_SEATS)
		return naive[who].own;
	while (seat < ALL_SEATS - 1 && !naive[who].has[seat])
		seat++;
	return seat;
}

uint64_t
naive_seats(unsigned who)
{
	uint64_t set = 0;
	uint32_t seat;

	for (seat = 0; naive[who].each && seat < SEATS; seat++)
		if (naive[who].has[seat])
			set |= UINT64_C(1) << seat;
	return set;
}
