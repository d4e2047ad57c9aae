/* SPDX-License-Identifier: ISC */
/*
 * closing.c - see closing.h.
 */
#include "closing.h"

#include <stdlib.h>

#include "clock.h"

#define LINGER SECOND /* for what a fleet still sends the store after a release */

struct closing_taker {
	SLIST_ENTRY(closing_taker) entry;
	struct fleet_taker *taker;
	struct event_target *target;
	uint64_t until_ns;
};

static SLIST_HEAD(all_closing, closing_taker) all;

void
closing_add(struct fleet_taker *t, struct event_target *target)
{
	struct closing_taker *c = malloc(sizeof(*c));

	if (c == NULL) /* the taker's lease ends by itself */
		return;
	*c = (struct closing_taker){ .taker = t,
				     .target = target,
				     .until_ns = flki_boottime_ns() + LINGER };
	SLIST_INSERT_HEAD(&all, c, entry);
}

uint64_t
closing_step(uint64_t now, bool idle)
{
	struct closing_taker *c, *after;
	uint64_t next = UINT64_MAX;

	for (c = SLIST_FIRST(&all); c != NULL; c = after) {
		after = SLIST_NEXT(c, entry);
		if (now < c->until_ns && !idle) {
			next = c->until_ns < next ? c->until_ns : next;
			continue;
		}
		SLIST_REMOVE(&all, c, closing_taker, entry);
		fleet_taker_free(c->taker);
		free(c->target);
		free(c);
	}
	return next;
}

bool
closing_any(void)
{
	return !SLIST_EMPTY(&all);
}
