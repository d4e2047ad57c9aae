/*
 * place.c - questions about how things stand, which the keeper puts to the store.
 */
#include <errno.h>
#include <stdlib.h>

#include "desk.h"
#include "here.h"
#include "internal.h"
#include "now.h"
#include "settings.h"

#define PATIENCE SECOND /* who waits is told in time that the store can't be reached */

int
flk_place(struct flk_taker *t, struct flk_place *place)
{
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage == HERE || t->here_refused)
		return here_place(t->here, place);
	if (t->away)
		return -FLK_STORE;
	if ((error = await_answer(t, 0, PATIENCE)) != 0)
		return error;
	*place = t->answer.stand;
	if (place->oldest.ticket != 0)
		place->oldest.host = desk_machine(t->answer.host);
	if (place->head.ticket != 0)
		place->head.host = desk_machine(t->answer.head_host);
	return 0;
}

/* After so long without an answer, the permit is lost at any rate, and what it paid for has ended. */
bool
flk_holds(struct flk *f, uint32_t slot, uint64_t ticket, struct flk_permit *permit)
{
	struct flk_taker *t;
	bool holds;

	if (slot != 0 || flk_taker_new(&t, f) != 0)
		return false;
	holds =
	    await_answer(t, ticket, ((uint64_t)settings.ttl_s + settings.grace_s) * SECOND) == 0 &&
	    t->answer.held;
	if (holds)
		*permit = (struct flk_permit){ .ticket = ticket,
					       .weight = t->answer.weight,
					       .limit = t->answer.limit,
					       .seat = t->answer.seat };
	flk_taker_free(t);
	return holds;
}
