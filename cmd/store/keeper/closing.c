/* SPDX-License-Identifier: ISC */
/*
 * closing.c - see closing.h.
 */
#include "closing.h"

#include <stdlib.h>

#include "clock.h"

#define LINGER SECOND /* for what the engine still sends the store after a release */

struct closing_taker {
	SLIST_ENTRY(closing_taker) entry;
	struct keeper_limiter *limiter;
	struct engine_taker *taker;
	struct event_target *target;
	uint64_t until_ns;
};

static SLIST_HEAD(all_closing, closing_taker) all;

void
closing_add(struct keeper_limiter *b, struct engine_taker *t, struct event_target *target)
{
	struct closing_taker *r = malloc(sizeof(*r));

	if (r == NULL) /* the taker's lease ends by itself */
		return;
	*r = (struct closing_taker){
		.limiter = b, .taker = t, .target = target, .until_ns = flki_boottime_ns() + LINGER
	};
	SLIST_INSERT_HEAD(&all, r, entry);
}

uint64_t
closing_step(uint64_t now)
{
	struct closing_taker *r, *after;
	uint64_t next = UINT64_MAX;

	for (r = SLIST_FIRST(&all); r != NULL; r = after) {
		after = SLIST_NEXT(r, entry);
		if (now < r->until_ns && engine_due(r->limiter->engine) != UINT64_MAX) {
			next = r->until_ns < next ? r->until_ns : next;
			continue;
		}
		SLIST_REMOVE(&all, r, closing_taker, entry);
		engine_taker_free(r->taker);
		free(r->target);
		free(r);
	}
	return next;
}

bool
closing_any(void)
{
	return !SLIST_EMPTY(&all);
}
