/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_place.c - a taker's place in the line, and what it waits for, from a view of its
 * limiter.
 */
#include <string.h>

#include "keeper_taker.h"

void
keeper_taker_place(const struct view *v, const char *self, struct talk *t)
{
	const struct view_entry *waiter = v->entry + v->holders;
	size_t i;

	t->place = (struct flk_place){ .used = view_used(v),
				       .limit = view_limit(v),
				       .holders = (uint32_t)v->holders,
				       .ahead = (uint32_t)v->waiters,
				       .set = v->set };
	for (i = 0; i < v->waiters; i++)
		if (strcmp(waiter[i].self, self) == 0)
			t->place.ahead = (uint32_t)i;
	if (t->place.ahead > 0) {
		t->place.head = view_show(&waiter[0]);
		talk_copy(t->head_host, sizeof(t->head_host), waiter[0].host);
	}
	if (v->holders > 0) {
		t->place.oldest = view_show(&v->entry[0]);
		talk_copy(t->host, sizeof(t->host), v->entry[0].host);
	}
}
