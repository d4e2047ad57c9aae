/* SPDX-License-Identifier: ISC */
/*
 * agree.c - are they the same?  And does nobody sleep through what it must see to?
 */
#include "twin.h"

#include <stdio.h>

static char complaint[200];

const char *
complain(const char *what, unsigned who, uint64_t has, uint64_t naive_has)
{
	snprintf(complaint, sizeof(complaint), "%s of %u is %lld, and the naive one's %lld", what,
		 who, (long long)has, (long long)naive_has);
	return complaint;
}

static const char *
differs(unsigned i)
{
	const struct slot *s = &real_slots[i];
	uint32_t state = atomic_load(&s->state);

	if (state != naive[i].state)
		return complain("the state", i, state, naive[i].state);
	if (state == OUT && s->reason != naive[i].reason)
		return complain("the reason", i, (uint64_t)s->reason, (uint64_t)naive[i].reason);
	if (state != WAITING && state != HELD)
		return NULL;
	if (s->ticket != naive[i].ticket)
		return complain("the ticket", i, s->ticket, naive[i].ticket);
	if (naive[i].kind == TAKER && s->weight != naive[i].weight)
		return complain("the weight", i, s->weight, naive[i].weight);
	if (state == WAITING && s->passed_by != naive[i].passed_by)
		return complain("the number of those that passed", i, s->passed_by,
				naive[i].passed_by);
	if (state == HELD && s->fence != naive[i].fence)
		return complain("the fence", i, s->fence, naive[i].fence);
	if (state == HELD && s->seat != naive_seat(i))
		return complain("the seat", i, s->seat, naive_seat(i));
	if (state == HELD && flki_seats_of(s) != naive_seats(i))
		return complain("the seats", i, flki_seats_of(s), naive_seats(i));
	return NULL;
}

static const char *
list_differs(const struct list *list, enum slot_state state)
{
	uint32_t i = list->head;
	unsigned j;

	for (j = naive_next(state, NOBODY); j != NOBODY; j = naive_next(state, j)) {
		if (i != j)
			return complain("the place in a list", j, i, j);
		i = real_slots[i].next;
	}
	return i == NIL ? NULL : "a list goes on behind its end";
}

static const char *
header_differs(void)
{
	const struct naive_header *h = &naive_header;
	uint32_t few = flki_state_limit(&real_state, 3);
	uint32_t all = flki_state_limit(&real_state, FLK_MAX_UNITS);

	if (real->used != naive_used())
		return complain("the units", 0, real->used, naive_used());
	if (real->withheld != h->withheld)
		return complain("what is withheld", 0, real->withheld, h->withheld);
	if (real->declared != h->declared)
		return complain("the declared limit", 0, real->declared, h->declared);
	if (real->override != h->override)
		return complain("the override", 0, (uint64_t)real->override, (uint64_t)h->override);
	if (real->seats_off != h->seats_off)
		return complain("the seats out of use", 0, real->seats_off, h->seats_off);
	if (real->gate.waiter != h->waiter)
		return complain("who waits for the gate alone", 0, real->gate.waiter, h->waiter);
	if (real->gate.started_ns != h->started)
		return complain("the last start behind the gate", 0, real->gate.started_ns,
				h->started);
	if (real->last_ticket != h->tickets)
		return complain("the last ticket", 0, real->last_ticket, h->tickets);
	if (real->last_fence != h->fences)
		return complain("the last fence", 0, real->last_fence, h->fences);
	if (few != naive_limit(3))
		return complain("the limit in force for 3", 0, few, naive_limit(3));
	if (all != naive_limit(FLK_MAX_UNITS))
		return complain("the limit in force", 0, all, naive_limit(FLK_MAX_UNITS));
	return NULL;
}

/* ---- who must be awake ---- */

/* The one before it in the line; the first in the line: all holders. */
bool
must_watch(unsigned me, unsigned whom)
{
	unsigned before = naive_predecessor(me);

	return before != NOBODY ? whom == before : naive[whom].state == HELD;
}

static const char *
oversleeps_one(unsigned me)
{
	unsigned i;

	if (naive[me].state != WAITING)
		return complain("though it is decided, the sleep", me, 0, naive[me].state);
	if (naive_header.told[me])
		return complain("though it must measure, the sleep", me, 0, 0);
	for (i = 0; i < takers; i++) {
		/* Most are in no state to be watched; to ask is dear. */
		if ((naive[i].state != WAITING && naive[i].state != HELD) || !must_watch(me, i))
			continue;
		if (!world[me].watches[i])
			return complain("unwatched by its sleep is another; that", me, i, i);
		if (is_dead(i))
			return complain("beside a dead one the sleep", me, i, i);
	}
	return NULL;
}

const char *
oversleeps(void)
{
	const char *why;
	unsigned i;

	for (i = 0; i < takers; i++)
		if (world[i].asleep && (why = oversleeps_one(i)) != NULL)
			return why;
	return NULL;
}

const char *
disagreement(void)
{
	const char *why;
	unsigned i;

	if (act_left_alone())
		return "killed inside, and nobody who is awake comes to mend it";
	if (real_state.bad)
		return "the index led astray, or could not be rebuilt";
	for (i = 0; i < takers; i++)
		if ((why = differs(i)) != NULL)
			return why;
	if ((why = list_differs(&real->holders, HELD)) != NULL ||
	    (why = list_differs(&real->waiting, WAITING)) != NULL ||
	    (why = header_differs()) != NULL || (why = turns_differ()) != NULL ||
	    (why = history_differs()) != NULL || (why = oversleeps()) != NULL)
		return why;
	real_begin(NIL);
	if ((why = flki_state_check(&real_state)) != NULL)
		return why;
	return real_state.bad ? "the check was led astray" : NULL;
}
