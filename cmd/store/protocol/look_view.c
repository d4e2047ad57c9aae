/* SPDX-License-Identifier: ISC */
/*
 * look_view.c - makes a view of a look, for people.
 */
#include <stdlib.h>
#include <string.h>

#include "look.h"

static int
by_ticket(const void *a, const void *b)
{
	const struct view_entry *x = a, *y = b;

	return x->ticket < y->ticket ? -1 : x->ticket > y->ticket;
}

static void
show(struct view_entry *e, const struct look_taker *t, uint32_t fair)
{
	const struct record *r = &t->record;
	const struct person *p = &t->person;

	memcpy(e->self, t->self, sizeof(e->self));
	memcpy(e->host, p->host, sizeof(e->host));
	memcpy(e->command, p->command, sizeof(e->command));
	if (turns_key_of(fair, r) != 0) {
		memcpy(e->key, p->key, sizeof(e->key));
		e->share = p->share;
	}
	e->ticket = look_ticket(t);
	e->weight = r->weight;
	e->limit = r->limit;
	e->seat = r->seat;
	e->pid = p->pid;
	e->uid = p->uid;
	e->since_ms = r->since_ms;
	e->role = p->role;
}

struct view *
look_view(const struct look *l)
{
	size_t n = l->holders + l->waiters, living, i;
	struct room room = { .set = &l->config };
	struct rank *rank;
	struct view *v = calloc(1, sizeof(*v) + n * sizeof(v->entry[0]));

	if (v == NULL)
		return NULL;
	v->set = l->config;
	v->next_start_ns = starts_next(&l->config.pace, &l->starts);
	room.holders = l->holders;
	if (l->config.pace.ramp_from != 0)
		v->capacity = starts_capacity(&l->config.pace, &l->starts, &room);
	v->there = l->config_mod != 0 || n > 0;
	v->holders = l->holders;
	v->waiters = l->waiters;
	for (i = 0; i < l->holders; i++) {
		show(&v->entry[i], &l->holder[i], l->config.fair);
		v->entry[i].holds = true;
		v->entry[i].fence = look_fence(l->holder[i].created, l->holder[i].record.seat);
		v->entry[i].suspect = !look_is_alive(l, &l->holder[i]);
	}
	qsort(v->entry, v->holders, sizeof(v->entry[0]), by_ticket);
	rank = l->config.fair != FLK_FAIR_OFF ? look_rank(l, &living) : NULL;
	for (i = 0; i < l->waiters; i++)
		show(&v->entry[v->holders + i], &l->waiter[rank != NULL ? rank[i].at : i],
		     l->config.fair);
	free(rank);
	return v;
}
