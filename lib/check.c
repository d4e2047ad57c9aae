/* SPDX-License-Identifier: ISC */
/*
 * check.c - the invariants of layout.h, verified against the slots themselves.
 */
#include "state.h"

static const char *
check_list(struct state *st, const struct list *list, uint32_t wanted)
{
	bool waits = list == &st->h->waiting;
	uint32_t i, prev = NIL, count = 0;

	for (i = list->head; i != NIL; i = st->slots[i].next) {
		const struct slot *s = &st->slots[i];
		if (i >= st->n)
			return "a link leads outside the file";
		if (++count > st->n)
			return "a list runs in a circle";
		if (atomic_load(&s->state) != wanted)
			return "a list has a slot of another state";
		if (s->prev != prev)
			return "a list differs forwards and backwards";
		if (prev != NIL && !flki_state_precedes(&st->slots[prev], s, waits))
			return waits ? "the line is out of order"
				     : "the holders are not in the order of the tickets";
		if (s->ticket > st->h->last_ticket)
			return "a ticket was never drawn";
		if (waits && s->order > s->ticket * PLACE_GAP)
			return "a waiter stands behind its place";
		prev = i;
	}
	if (list->tail != prev || list->count != count)
		return "a list's end or length is wrong";
	return NULL;
}

static const char *
check_holders(struct state *st)
{
	return check_list(st, &st->h->holders, HELD);
}

static const char *
check_line(struct state *st)
{
	return check_list(st, &st->h->waiting, WAITING);
}

/* A slot that is in no list shows in the counts. */
static const char *
check_counts(struct state *st)
{
	uint32_t i, held = 0, waiting = 0, barriers = 0;

	for (i = 0; i < st->n; i++) {
		uint32_t state = atomic_load(&st->slots[i].state);
		held += state == HELD;
		waiting += state == WAITING;
		barriers += state == WAITING && st->slots[i].kind == BARRIER;
		if (state > OUT)
			return "a slot has no known state";
	}
	if (held != st->h->holders.count || waiting != st->h->waiting.count ||
	    barriers != st->h->barriers)
		return "a slot is in no list";
	return NULL;
}

static const char *
check_used(struct state *st)
{
	uint64_t used = 0;
	uint32_t i;

	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) == HELD)
			used += st->slots[i].weight;
	return used != st->h->used ? "the units in use are not the sum of the weights held" : NULL;
}

static const char *
check_limit(struct state *st)
{
	uint32_t i, min = UINT32_MAX, count = 0;

	for (i = 0; i < st->n; i++) {
		const struct slot *s = &st->slots[i];
		if (atomic_load(&s->state) != HELD)
			continue;
		if (s->limit < min) {
			min = s->limit;
			count = 0;
		}
		count += s->limit == min;
	}
	if (count != st->h->min_count || (count > 0 && min != st->h->min_limit))
		return "the smallest limit is not the smallest";
	return NULL;
}

static const char *
check_requests(struct state *st)
{
	const char *why = NULL;
	uint32_t i;

	for (i = 0; i < st->n && why == NULL; i++)
		if (atomic_load(&st->slots[i].state) == WAITING)
			why = flki_state_asked_wrongly(&st->slots[i]);
	return why;
}

/*
 * To compare two sets of numbers in any order by the sum of their scrambled members: sets that
 * differ have the same sum only by a rare accident.
 */
static uint64_t
scramble(uint64_t n)
{
	n = (n + 1) * UINT64_C(0x9e3779b97f4a7c15);
	n = (n ^ n >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	return n ^ n >> 32;
}

/* The seats of the holders are those in the map, each once. */
static const char *
check_seats(struct state *st)
{
	uint32_t i, held = 0;
	uint64_t seats = 0, map, sum = 0;

	for (i = 0; i < st->n; i++) {
		const struct slot *s = &st->slots[i];
		for (map = s->seat_bits; map != 0; map &= map - 1, seats++)
			sum += scramble(i * UINT64_C(64) + (uint64_t)__builtin_ctzll(map));
		if (atomic_load(&s->state) != HELD)
			continue;
		/* Once: it may change between two looks. */
		const struct slot copy = { .weight = s->weight,
					   .seat = s->seat,
					   .seats = s->seats };
		if (!flki_seats_are_sane(&copy, st->n) || !flki_state_seats_are_taken(st, &copy))
			return "a holder has no seat";
		map = flki_seats_of(&copy);
		if (map == 0) {
			sum -= scramble(copy.seat);
			held++;
		}
		for (; map != 0; map &= map - 1, held++)
			sum -= scramble((uint64_t)__builtin_ctzll(map));
	}
	if (seats != held)
		return "a seat is taken by nobody";
	return sum != 0 ? "two holders have one seat" : NULL;
}

static const char *
check_turn(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) == HELD && flki_fair_has_key(&st->slots[i]) &&
		    st->slots[i].tag > st->h->turn)
			return "a turn was granted that has not come yet";
	return NULL;
}

static const char *
check_fences(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) == HELD &&
		    st->slots[i].fence > st->h->last_fence)
			return "a fence was never drawn";
	return NULL;
}

/*
 * The seats below the limit that a taker may have, and no holder has: one for each unit or, above
 * FLK_SEATS, only one.  Takes the seats that are free but out of use off the limit.
 */
static bool
has_seats_enough(struct state *st, const struct slot *s, uint64_t *limit)
{
	uint64_t end = s->weight > *limit ? s->limit : *limit, seat, enough = 0, lost = 0;
	struct slot one = { .seats = 0 };

	for (seat = 0; seat < end && seat < (uint64_t)st->n + SEATS; seat++) {
		one.seat = (uint32_t)seat;
		if (flki_state_seats_are_taken(st, &one))
			continue;
		if (seat < SEATS && (st->h->seats_off >> seat & 1) != 0)
			lost += seat < *limit;
		else if (seat >= SEATS || (s->not_seats >> seat & 1) == 0)
			enough++;
	}
	*limit -= lost;
	return enough >= (end > SEATS ? 1 : s->weight);
}

/* A copy of the grant rule, from its words in the manual, not from room.c. */
static const char *
check_head(struct state *st)
{
	const struct header *h = st->h;
	uint32_t i = h->waiting.head, left = st->n;
	uint64_t limit;

	while (i < st->n && st->slots[i].kind == BARRIER && left-- > 0)
		i = st->slots[i].next;
	/* With a pace it may fit at any moment, and be about to look. */
	if (i >= st->n || h->paused || flki_pace_is_set(h))
		return NULL;
	limit = h->override >= 0 ? (uint64_t)h->override : st->slots[i].limit;
	if (h->override < 0 && h->min_count > 0 && h->min_limit < limit)
		limit = h->min_limit;
	if (!has_seats_enough(st, &st->slots[i], &limit))
		return NULL;
	limit = limit > h->withheld ? limit - h->withheld : 0;
	if (limit == 0 || (h->holders.count > 0 && h->used + st->slots[i].weight > limit))
		return NULL;
	if (!flki_gate_is_before(h, &st->slots[i]))
		return "the head of the line waits although it fits";
	if (h->gate.waiter != st->slots[i].ticket)
		return "the head was not told that only the gate keeps it";
	return NULL;
}

const char *
flki_state_check_next(struct state *st, unsigned *next)
{
	static const char *(*const checks[])(struct state *) = {
		check_holders, check_line, check_counts,   check_used,   check_limit,
		check_seats,   check_head, check_requests, check_fences, check_turn,
	};
	const char *why = NULL;

	while (why == NULL && *next < sizeof(checks) / sizeof(checks[0]))
		why = checks[(*next)++](st);
	return why;
}

const char *
flki_state_check(struct state *st)
{
	unsigned next = 0;

	return flki_state_check_next(st, &next);
}
