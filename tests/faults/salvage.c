/* SPDX-License-Identifier: ISC */
/*
 * salvage.c - slots with any values at all are salvaged and rebuilt, and some laws hold: a command
 * that runs keeps its permit, no true number changes, and what remains is a sound limiter.
 *
 *	salvage.t [ROUNDS [SEED]]
 *
 * hostile.c has each lie alone, and knows what becomes of it; here many meet.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define SLOTS 6
#define FAR   (LAST_TICKET / 2) /* no ticket is drawn from here on */

static struct header h, h_before;
static struct slot slots[SLOTS], before[SLOTS];
static struct state st;
static bool woken[SLOTS], woken_early;

static void
note_wake(void *ctx, uint32_t i)
{
	(void)ctx;
	woken[i] = true;
	woken_early |= atomic_load(&slots[i].state) == WAITING;
}

/* ---- any values ---- */

#define ANY(...)                                                          \
	({                                                                \
		const uint64_t any_of[] = { __VA_ARGS__ };                \
		any_of[random_below(sizeof(any_of) / sizeof(any_of[0]))]; \
	})

static uint32_t
units(void)
{
	return (uint32_t)ANY(0, 1, 1, 1, 2, 2, 3, 4, FLK_MAX_UNITS, FLK_MAX_UNITS + 1, UINT32_MAX);
}

static void
invent(void)
{
	unsigned i;

	memset(woken, 0, sizeof(woken));
	woken_early = false;
	st = empty_state(&h, slots, SLOTS);
	st.world.wake = note_wake;
	h.last_ticket = random_below(9);
	h.last_fence = random_below(3);
	for (i = 0; i < SLOTS; i++) {
		struct slot *s = &slots[i];
		atomic_store(&s->state, (uint32_t)ANY(HELD, HELD, HELD, WAITING, WAITING, WAITING,
						      FREE, IDLE, OUT, OUT + 1, UINT32_MAX));
		s->kind = random_below(4) == 0 ? BARRIER : TAKER;
		s->ticket = ANY(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, FAR - 1, FAR, LAST_TICKET,
				LAST_TICKET + 1, UINT64_MAX);
		s->order = ANY(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, PLACE_GAP, 2 * PLACE_GAP,
			       9 * PLACE_GAP + 1, UINT64_MAX);
		s->weight = units();
		s->least = units();
		s->most = units();
		s->limit = units();
		s->fence = random_below(5);
		s->yield = random_below(3);
		s->passed_by = random_below(4);
		s->seat =
		    (uint32_t)ANY(0, 1, 2, 3, 4, SLOTS + SEATS - 1, SLOTS + SEATS, UINT32_MAX);
		s->seats = random_below(2) ? 0 : (uint64_t)random_below(16) << ANY(0, 0, 4, 60);
		if (s->seats != 0 && random_below(4) != 0)
			s->seat = (uint32_t)__builtin_ctzll(s->seats);
		s->seat_bits = random_below(9);
		s->prev = random_below(SLOTS + 1);
		s->next = random_below(SLOTS + 1);
	}
	memcpy(&h_before, &h, sizeof(h));
	memcpy(before, slots, sizeof(slots));
}

/* ---- what is true of a slot ---- */

static uint32_t
nearest(uint32_t n)
{
	return n == 0 ? 1 : n > FLK_MAX_UNITS ? FLK_MAX_UNITS : n;
}

static bool
was(unsigned i, uint32_t state)
{
	return before[i].state == state;
}

/* Another holder or waiter has its ticket; of waiters, another waiter its place. */
static bool
shares_ticket(unsigned i)
{
	unsigned j;

	for (j = 0; j < SLOTS; j++)
		if (j != i && (was(j, HELD) || was(j, WAITING)) &&
		    before[j].ticket == before[i].ticket)
			return true;
	return false;
}

static bool
shares_place(unsigned i)
{
	unsigned j;

	for (j = 0; j < SLOTS; j++)
		if (j != i && was(j, WAITING) && before[j].order == before[i].order)
			return true;
	return false;
}

/* With the weight that it has, or will have. */
static bool
has_seat(const struct slot *s, uint32_t seat)
{
	struct slot copy = { .weight = nearest(s->weight), .seat = s->seat, .seats = s->seats };

	return flki_seats_have(s, seat) || flki_seats_have(&copy, seat);
}

static bool
has_other_holder(const struct slot *all, unsigned i, uint32_t seat)
{
	unsigned j;

	for (j = 0; j < SLOTS; j++)
		if (j != i && was(j, HELD) && has_seat(&all[j], seat))
			return true;
	return false;
}

/* Seats that are right by themselves, and that no other holder names. */
static bool
has_own_seats(unsigned i)
{
	const struct slot *s = &before[i];
	uint32_t seat;

	if (nearest(s->weight) != s->weight || !flki_seats_are_sane(s, SLOTS))
		return false;
	for (seat = 0; seat < SLOTS + SEATS; seat++)
		if (has_seat(s, seat) && has_other_holder(before, i, seat))
			return false;
	return true;
}

static bool
is_right_by_itself(const struct slot *s)
{
	return s->ticket != 0 && s->ticket <= LAST_TICKET && s->order != 0 &&
	       s->order <= s->ticket * PLACE_GAP &&
	       (s->kind == BARRIER ||
		(nearest(s->least) == s->least && nearest(s->limit) == s->limit));
}

/* ---- the laws ---- */

static const char *
wrong_seats(unsigned i)
{
	const struct slot *s = &slots[i], *b = &before[i];
	uint32_t seat;

	if (s->seats == b->seats && s->seats != 0)
		return s->seat >= 64 || (s->seats >> s->seat & 1) == 0 ? "one of its seats" : NULL;
	if (has_own_seats(i))
		return s->seats != b->seats || s->seat != b->seat ? "seats that were its own"
								  : NULL;
	if (s->seats != 0)
		return "seats from nowhere";
	if (s->seat == b->seat && b->seats == 0)
		return NULL;
	for (seat = 0; seat < s->seat; seat++)
		if (!has_other_holder(before, i, seat) && !has_other_holder(slots, i, seat) &&
		    !has_seat(b, seat))
			return "a seat that is not the smallest";
	return NULL;
}

/* A permit has no more units than seats, where it has a set: it may have been about to grow. */
static uint32_t
right_weight(const struct slot *b)
{
	uint32_t seats = (uint32_t)__builtin_popcountll(b->seats);

	return nearest(b->seats != 0 && b->weight > seats ? seats : b->weight);
}

static const char *
wrong_holder(unsigned i)
{
	const struct slot *s = &slots[i], *b = &before[i];
	unsigned j, with_it = 0;
	bool shared = shares_ticket(i);

	if (s->state != HELD)
		return "a command that runs has lost its permit";
	if (s->weight != right_weight(b) || s->limit != nearest(b->limit))
		return "a weight or limit that is not the nearest";
	if (s->ticket != b->ticket &&
	    (s->ticket <= h_before.last_ticket || s->ticket > h.last_ticket))
		return "a ticket that was not drawn now";
	if (s->ticket != b->ticket && s->ticket > FAR + SLOTS)
		return "a ticket behind which there are few";
	if (s->ticket != b->ticket && b->ticket != 0 && !shared)
		return "another ticket";
	for (j = 0; j < SLOTS; j++)
		if (s->ticket != b->ticket && was(j, HELD) && before[j].ticket < FAR &&
		    s->ticket <= before[j].ticket)
			return "a ticket that is not above that of another permit";
	for (j = 0; j < SLOTS; j++)
		if (j != i && (was(j, HELD) || slots[j].state == WAITING))
			with_it += slots[j].ticket == s->ticket;
	if (s->ticket == 0 || with_it > 0)
		return "a ticket that is not its own";
	for (j = 0; j < SLOTS; j++)
		if (shared && was(j, HELD) && before[j].ticket == b->ticket)
			with_it += slots[j].ticket == b->ticket;
		else if (was(j, WAITING) && before[j].ticket == b->ticket)
			shared = false; /* a waiter may have kept it instead */
	if (shared && b->ticket != 0 && with_it != 1)
		return "a ticket that several had, and none has";
	return wrong_seats(i);
}

static const char *
wrong_waiter(unsigned i)
{
	const struct slot *s = &slots[i], *b = &before[i];

	if (s->state != WAITING && s->state != OUT)
		return "a waiter that neither waits nor is out";
	if (s->state == OUT && is_right_by_itself(b) && !shares_ticket(i) && !shares_place(i))
		return "a waiter that was right, and is out";
	if (s->state == WAITING && !is_right_by_itself(b))
		return "a waiter that can't be right, and waits";
	if (s->state == OUT && (s->reason != -FLK_EVICTED || !woken[i] || woken_early))
		return "a waiter that does not learn why it is out";
	if (s->state == OUT)
		return NULL;
	if (s->ticket != b->ticket || s->order != b->order || s->weight != s->least)
		return "a waiter with another ticket, place or weight";
	if (s->passed_by != (b->passed_by < b->yield ? b->passed_by : b->yield))
		return "another number of those that passed";
	return NULL;
}

static const char *
wrong_after_salvage(void)
{
	const char *why = NULL;
	unsigned i;

	for (i = 0; i < SLOTS && why == NULL; i++)
		if (was(i, HELD))
			why = wrong_holder(i);
		else if (was(i, WAITING))
			why = wrong_waiter(i);
		else if (slots[i].state != (before[i].state > OUT ? FREE : before[i].state))
			why = "another state of one that neither holds nor waits";
	return why;
}

static const char *
wrong_after_rebuild(void)
{
	unsigned i;

	for (i = 0; i < SLOTS; i++) {
		if (was(i, HELD) && slots[i].state != HELD)
			return "a command that runs has lost its permit to the rebuild";
		if (was(i, WAITING) && slots[i].state != HELD && slots[i].state != WAITING &&
		    slots[i].state != OUT)
			return "a waiter in no state to be in";
		if (slots[i].state > IDLE && !woken[i])
			return "a taker that sleeps on, with what it saw before";
	}
	if (h.withheld != 0)
		return "units forgotten in vain";
	return flki_state_check(&st);
}

static const char *
wrong(uint64_t seed)
{
	const char *why;

	random_seed(seed);
	invent();
	flki_state_salvage(&st);
	if ((why = wrong_after_salvage()) != NULL)
		return why;
	memset(woken, 0, sizeof(woken));
	if (!flki_state_rebuild(&st))
		return "nothing could be rebuilt";
	return st.bad ? "the rebuild was led astray" : wrong_after_rebuild();
}

int
main(int argc, char **argv)
{
	unsigned rounds = argc > 1 ? (unsigned)atol(argv[1]) : 30000, n;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : now_ns() % 1000000;
	const char *why = NULL;

	begin();
	for (n = 0; n < rounds && why == NULL; n++)
		why = wrong(seed + n);
	ok(why == NULL, "%u limiters of junk are salvaged", n);
	if (why != NULL)
		tap_note("%s: salvage.t 1 %llu", why, (unsigned long long)(seed + n - 1));
	return tap_done();
}
