/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_place.c - a taker's place in the line, and what it waits for, from a view of its limiter.
 * Pure, but for the clocks, by which a time of the store is one of this machine.
 */
#include <string.h>

#include "keeper_taker.h"
#include "now.h"

static void
copy_entry(struct flk_entry *to, const struct view_entry *from)
{
	*to = (struct flk_entry){ .ticket = from->ticket,
				  .weight = from->weight,
				  .limit = from->limit,
				  .seat = from->seat,
				  .pid = (pid_t)from->pid,
				  .uid = from->uid,
				  .since_ns = when_was(from->since_ms),
				  .holds = from->holds,
				  .role = from->role };
	talk_copy(to->command, sizeof(to->command), from->command);
}

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
		copy_entry(&t->place.head, &waiter[0]);
		talk_copy(t->head_host, sizeof(t->head_host), waiter[0].host);
	}
	if (v->holders > 0) {
		copy_entry(&t->place.oldest, &v->entry[0]);
		talk_copy(t->host, sizeof(t->host), v->entry[0].host);
	}
}
