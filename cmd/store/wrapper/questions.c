/* SPDX-License-Identifier: ISC */
/*
 * questions.c - questions about the state of a limiter, which the keeper puts to the store.
 */
#include <errno.h>
#include <stdlib.h>

#include "internal.h"
#include "now.h"
#include "operator/session.h"
#include "settings.h"

#define PATIENCE SECOND /* short, so that a waiter learns in time that the store can't be reached */

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
	if ((error = await_answer(t, 0, PATIENCE)) != 0)
		return error;
	*place = t->answer.place;
	if (place->oldest.ticket != 0)
		place->oldest.host = session_machine(t->answer.host);
	if (place->head.ticket != 0)
		place->head.host = session_machine(t->answer.head_host);
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
	holds =
	    await_answer(t, ticket, ((uint64_t)settings.ttl_s + settings.grace_s) * SECOND) == 0 &&
	    t->answer.held;
	if (holds)
		*permit = (struct flk_permit){ .ticket = ticket,
					       .weight = t->answer.weight,
					       .limit = t->answer.limit,
					       .seat = t->answer.seat,
					       .fence = ticket };
	store_taker_free(taker);
	return holds;
}
