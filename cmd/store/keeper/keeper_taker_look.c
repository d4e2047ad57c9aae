/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker_look.c - answers what the wrapper asks about the limiter: a taker's place in the
 * line and what it waits for, or whether a permit is held.
 */
#include <stdlib.h>
#include <string.h>

#include "keeper_taker.h"
#include "kind.h"

/* Sets t->place to what the view says of the taker of that name. */
static void
place(const struct view *v, const char *self, struct talk *t)
{
	const struct view_entry *waiter = v->entry + v->holders;
	size_t i;

	t->place = (struct flk_place){ .used = view_used(v),
				       .limit = view_limit(v),
				       .holders = (uint32_t)v->holders,
				       .ahead = (uint32_t)v->waiters,
				       .next_start_ns = v->next_start_ns,
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

static void
answer(void *context, const struct fleet_answer *a)
{
	struct ask *ask = context;
	struct talk t = { .kind = TALK_LOOKED, .ask = ask->number, .code = a->code };
	size_t i;

	if (ask->taker == NULL) {
		free(ask);
		return;
	}
	talk_copy(t.text, sizeof(t.text), a->text);
	if (a->code == 0 && a->view != NULL) {
		place(a->view, ask->taker->self, &t);
		for (i = 0; ask->ticket != 0 && i < a->view->holders; i++)
			if (a->view->entry[i].ticket == ask->ticket) {
				t.held = true;
				t.ticket = ask->ticket;
				t.fence = a->view->entry[i].fence;
				t.weight = a->view->entry[i].weight;
				t.limit = a->view->entry[i].limit;
				t.seat = a->view->entry[i].seat;
			}
	}
	keeper_taker_send(ask->taker, &t);
	LIST_REMOVE(ask, entry);
	free(ask);
}

void
keeper_taker_look(struct keeper_taker *k, const struct talk *t)
{
	struct fleet_question q = { .kind = ASK_LOOK };
	struct talk no = { .kind = TALK_LOOKED, .ask = t->ask, .code = -FLK_STORE };
	struct ask *a = k->limiter->fleet != NULL ? malloc(sizeof(*a)) : NULL;

	if (a == NULL) {
		talk_copy(no.text, sizeof(no.text), k->limiter->why);
		keeper_taker_send(k, &no);
		return;
	}
	*a = (struct ask){ .taker = k, .number = t->ask, .ticket = t->ticket };
	LIST_INSERT_HEAD(&k->asks, a, entry);
	fleet_ask(k->limiter->fleet, &q, t->patience_ns, answer, a);
}
