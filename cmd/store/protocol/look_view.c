/* SPDX-License-Identifier: ISC */
/*
 * look_view.c - makes a view of a look: the rule decides by it, and people see it.
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
show(struct view_entry *e, const char *self, const struct record *r, int64_t created)
{
	memcpy(e->self, self, sizeof(e->self));
	memcpy(e->host, r->host, sizeof(e->host));
	memcpy(e->command, r->command, sizeof(e->command));
	e->ticket = r->ticket != 0 ? r->ticket : (uint64_t)created;
	e->weight = r->weight;
	e->limit = r->limit;
	e->seat = r->seat;
	e->pid = r->pid;
	e->uid = r->uid;
	e->ttl_s = r->ttl_s;
	e->grace_s = r->grace_s;
	e->since_ms = r->since_ms;
	e->role = r->role;
}

struct view *
look_view(const struct look *l)
{
	size_t n = l->holders + l->waiters, i;
	struct view *v = calloc(1, sizeof(*v) + n * sizeof(v->entry[0]));

	if (v == NULL)
		return NULL;
	v->set = l->config;
	v->there = l->config_mod != 0 || n > 0;
	v->holders = l->holders;
	v->waiters = l->waiters;
	for (i = 0; i < l->holders; i++) {
		show(&v->entry[i], l->holder[i].self, &l->holder[i].record, l->holder[i].created);
		v->entry[i].holds = true;
		v->entry[i].suspect = !l->holder[i].alive;
	}
	qsort(v->entry, v->holders, sizeof(v->entry[0]), by_ticket);
	for (i = 0; i < l->waiters; i++)
		show(&v->entry[v->holders + i], l->waiter[i].self, &l->waiter[i].record,
		     l->waiter[i].created);
	return v;
}
