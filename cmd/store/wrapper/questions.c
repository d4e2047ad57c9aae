/* SPDX-License-Identifier: ISC */
/*
 * questions.c - questions about the state of a limiter, which the keeper puts to the store.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "now.h"
#include "machine.h"
#include "settings.h"

#define PATIENCE SECOND /* short, so that a waiter learns in time that the store can't be reached */

static bool
is_answered(const struct store_taker *t)
{
	return t->answered;
}

/* ticket: of the permit that is asked about, or 0; the answer is in t->answer. */
static int
ask(struct store_taker *t, uint64_t ticket, uint64_t patience_ns)
{
	int error;

	t->question = (struct talk){
		.kind = TALK_LOOK, .ask = ++t->asked, .ticket = ticket, .patience_ns = patience_ns
	};
	t->answered = false;
	if ((error = await_send(t, &t->question, -1)) != 0)
		return error;
	error = await(t, is_answered, now_ns() + patience_ns + SECOND, NULL, false);
	t->answered = true;
	if (error == -ETIMEDOUT)
		return store_trouble("the keeper does not answer: was it stopped?");
	return error == 0 && t->answer.code != 0 ? store_trouble(t->answer.text) : error;
}

int
store_place(struct flk_taker *taker, struct flk_place *place)
{
	struct store_taker *t = taker_of(taker);
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->state == PERMIT_LOCAL || t->local_refused)
		return flk_place(t->local, place);
	if (t->away)
		return -FLK_STORE;
	if ((error = ask(t, 0, PATIENCE)) != 0)
		return error;
	*place = t->answer.place;
	if (place->oldest.ticket != 0)
		place->oldest.host = machine_of(t->answer.host);
	if (place->head.ticket != 0)
		place->head.host = machine_of(t->answer.head_host);
	return 0;
}

/* After this long without an answer, the permit is lost in any case, and the command under it has ended. */
bool
store_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	struct flk_taker *taker;
	struct store_taker *t;
	bool holds;

	if (slot != 0 || store_taker_new(&taker, f) != 0)
		return false;
	t = taker_of(taker);
	holds = ask(t, ticket, ((uint64_t)settings.ttl_s + settings.grace_s) * SECOND) == 0 &&
		t->answer.held;
	if (holds)
		*permit = taker_permit(&t->answer);
	store_taker_free(taker);
	return holds;
}
