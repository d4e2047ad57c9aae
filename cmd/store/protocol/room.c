/* SPDX-License-Identifier: ISC */
/*
 * room.c - see room.h.
 */
#include "room.h"

#include "starts.h"

/* 0 stands for "none", on both sides. */
static uint32_t
smaller(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

void
room_add(struct room *r, uint32_t weight, uint32_t limit, uint32_t seat)
{
	r->used += weight;
	r->holders++;
	r->least = smaller(r->least, limit);
	if (seat < ROOM_SEATS)
		r->seats[seat / 64] |= UINT64_C(1) << seat % 64;
}

uint32_t
room_seat(const struct room *r)
{
	uint32_t seat = 0;

	while (seat < ROOM_SEATS && r->seats[seat / 64] >> seat % 64 & 1)
		seat++;
	return seat;
}

uint32_t
room_limit(const struct room *r, uint32_t limit)
{
	if (r->set->override >= 0)
		return r->set->override < FLK_MAX_UNITS ? (uint32_t)r->set->override
							: FLK_MAX_UNITS;
	return smaller(r->least, limit);
}

uint32_t
room_own(uint32_t limit, uint32_t declared, uint32_t fallback)
{
	if (limit != 0)
		return limit;
	if (declared != 0)
		return declared;
	return fallback != 0 ? fallback : 1;
}

bool
room_fits(const struct room *r, uint32_t weight, uint32_t limit, uint32_t *under)
{
	uint32_t said = room_limit(r, limit);
	uint64_t most = said, allowed;

	*under = r->set->override >= 0 ? said : limit;
	if (r->set->paused || r->set->closed || most == 0)
		return false;
	if (r->starts != NULL) {
		allowed = starts_allow(&r->set->pace, r->starts, r);
		most = allowed < most ? allowed : most;
	}
	return most > 0 && (r->holders == 0 || r->used + weight <= most);
}
