/* SPDX-License-Identifier: ISC */
/*
 * takers.c - all takers of a fleet, for the life that they share: see inside.h.
 */
#include <string.h>

#include "taker.h"

unsigned fleet_calls = 8;

/* A claim puts l/ itself. */
bool
fleet_has_records(const struct fleet *fleet)
{
	const struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link)
		if (t->state > CLAIMING)
			return true;
	return false;
}

/* No taker needs the life any more. */
void
fleet_rest(struct fleet *fleet)
{
	const struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link)
		if (t->state != IDLE)
			return;
	life_drop(&fleet->life);
}

/* ---- each of them ---- */

static struct fleet_taker *
next_called(const struct fleet *fleet)
{
	struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link)
		if (t->called) {
			t->called = false;
			return t;
		}
	return NULL;
}

/* What is done for one may end or free any. */
static void
call_all(struct fleet *fleet)
{
	struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link)
		t->called = t->state != IDLE;
}

void
fleet_heard(struct fleet *fleet, const struct records_answer *a)
{
	struct fleet_taker *t;

	call_all(fleet);
	while ((t = next_called(fleet)) != NULL)
		if (taker_heard(t, a) && a->result == RECORDS_OK &&
		    (t->state == ASKING || t->state == FIRST || t->state == RECONCILE ||
		     t->state == FENCING || t->state >= LOSING))
			taker_act(t);
}

void
fleet_proven(struct fleet *fleet)
{
	struct fleet_taker *t;

	call_all(fleet);
	while ((t = next_called(fleet)) != NULL)
		if (t->state == HOLDING)
			hold_proven(t);
}

void
fleet_note(struct fleet *fleet, const char *text)
{
	struct fleet_taker *t;

	call_all(fleet);
	while ((t = next_called(fleet)) != NULL)
		if (t->state == HOLDING && t->reported)
			taker_note(t, text);
}

/* ---- those that queue ---- */

bool
fleet_has_next(const struct fleet_store *store)
{
	return store->calls < store->most_calls && !TAILQ_EMPTY(&store->queue);
}

void
fleet_call_next(struct fleet_store *store)
{
	while (fleet_has_next(store)) {
		struct fleet_taker *t = TAILQ_FIRST(&store->queue);

		taker_unqueue(t);
		taker_act(t);
	}
}

/* ---- their permits ---- */

static void
add_checks(struct fleet *fleet, struct txn *x, bool reported, size_t *room)
{
	struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link) {
		struct key h = taker_key(t, 'h');
		if (t->state != HOLDING || t->reported != reported || *room == 0)
			continue;
		t->asked = true;
		txn_get(x, h.s, NULL)->keys_only = true;
		(*room)--;
	}
}

/*
 * First those whose command waits for it.  Of the others the watches report the same; they are asked for
 * in case that the store was put back from an older copy.
 */
void
fleet_add_check(struct fleet *fleet, struct txn *x)
{
	size_t room = records_limits(fleet->store->records).operations - 1;
	struct fleet_taker *t;

	LIST_FOREACH(t, &fleet->takers, link)
		t->asked = false;
	add_checks(fleet, x, false, &room);
	add_checks(fleet, x, true, &room);
}

static bool
is_there(const struct fleet_taker *t, const struct records_answer *a)
{
	struct key h = taker_key(t, 'h');
	size_t i;

	for (i = 0; i < a->n; i++)
		if (a->found[i].n > 0 && strcmp(a->found[i].kv[0].key, h.s) == 0)
			return a->found[i].kv[0].created == t->held_since;
	return false;
}

void
fleet_checked(struct fleet *fleet, const struct records_answer *a)
{
	struct fleet_taker *t;

	call_all(fleet);
	while ((t = next_called(fleet)) != NULL)
		if (t->asked && t->state == HOLDING && is_there(t, a))
			t->checked = a->revision;
		else if (t->asked && t->state == HOLDING)
			taker_go(t, LOSING);
}
