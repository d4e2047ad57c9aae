/* SPDX-License-Identifier: ISC */
/*
 * index.c - what layout.h calls the index: two lists, a sum, a smallest limit, a map of seats.
 * All of it follows from the slots, and saves a taker the look through all of them.
 */
#include "state.h"

/*
 * That is almost always the end of the list: a newcomer has the highest `order' and ticket, and
 * takers are granted by rising tickets, unless a waiter consented to be passed, or the limiter is fair.
 * And if two takers were inside and one of them tore the line, a younger waiter may have been granted
 * before an older one.
 */
void
flki_state_insert(struct state *st, struct list *list, uint32_t i)
{
	bool waits = list == &st->h->waiting;
	struct slot *s = flki_state_at(st, i);
	uint32_t prev = list->tail, next = NIL, left;

	for (left = st->n; prev != NIL && left > 0; left--) {
		const struct slot *before = flki_state_at(st, prev);
		if (flki_state_precedes(before, s, waits))
			break;
		next = prev;
		prev = before->prev;
	}
	s->prev = prev;
	s->next = next;
	if (prev == NIL)
		list->head = i;
	else
		flki_state_at(st, prev)->next = i;
	if (next == NIL)
		list->tail = i;
	else
		flki_state_at(st, next)->prev = i;
	list->count++;
}

void
flki_state_unlink(struct state *st, struct list *list, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);
	uint32_t prev = s->prev, next = s->next;

	if (prev == NIL)
		list->head = next;
	else
		flki_state_at(st, prev)->next = next;
	if (next == NIL)
		list->tail = prev;
	else
		flki_state_at(st, next)->prev = prev;
	if (list->count == 0)
		st->bad = true;
	else
		list->count--;
}

void
flki_state_count_in(struct state *st, const struct slot *s)
{
	struct header *h = st->h;

	h->used += s->weight;
	flki_state_mark_seats(st, s, true);
	if (h->min_count == 0 || s->limit < h->min_limit) {
		h->min_limit = s->limit;
		h->min_count = 1;
	} else if (s->limit == h->min_limit) {
		h->min_count++;
	}
}

/* Looks through all holders only if the last one with the smallest limit has left. */
void
flki_state_count_out(struct state *st, uint32_t i)
{
	struct header *h = st->h;
	struct slot *s = flki_state_at(st, i);
	uint32_t j, left;

	flki_state_unlink(st, &h->holders, i);
	if (h->holders.count == 0)
		h->idle_since_ns = flki_pace_now(st);
	h->used -= s->weight;
	flki_state_mark_seats(st, s, false);
	if (s->limit != h->min_limit || --h->min_count > 0)
		return;
	h->min_limit = 0;
	for (j = h->holders.head, left = st->n; j != NIL && left > 0; left--) {
		const struct slot *other = flki_state_at(st, j);
		if (h->min_count == 0 || other->limit < h->min_limit) {
			h->min_limit = other->limit;
			h->min_count = 1;
		} else if (other->limit == h->min_limit) {
			h->min_count++;
		}
		j = other->next;
	}
}
