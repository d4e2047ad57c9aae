/* SPDX-License-Identifier: ISC */
/*
 * retired.c - see retired.h.
 */
#include "retired.h"

#include <stdlib.h>

#include "clock.h"

#define LINGER SECOND /* for what the store is told after a release */

struct retired {
	SLIST_ENTRY(retired) entry;
	struct branch *branch;
	struct engine_taker *taker;
	struct ear *ear;
	uint64_t until_ns;
};

static SLIST_HEAD(all_retired, retired) all;

void
retired_add(struct branch *b, struct engine_taker *t, struct ear *ear)
{
	struct retired *r = malloc(sizeof(*r));

	if (r == NULL) /* its lease ends by itself */
		return;
	*r = (struct retired){
		.branch = b, .taker = t, .ear = ear, .until_ns = flki_boottime_ns() + LINGER
	};
	SLIST_INSERT_HEAD(&all, r, entry);
}

uint64_t
retired_step(uint64_t now)
{
	struct retired *r, *after;
	uint64_t next = UINT64_MAX;

	for (r = SLIST_FIRST(&all); r != NULL; r = after) {
		after = SLIST_NEXT(r, entry);
		if (now < r->until_ns && engine_due(r->branch->engine) != UINT64_MAX) {
			next = r->until_ns < next ? r->until_ns : next;
			continue;
		}
		SLIST_REMOVE(&all, r, retired, entry);
		engine_taker_free(r->taker);
		free(r->ear);
		free(r);
	}
	return next;
}

bool
retired_any(void)
{
	return !SLIST_EMPTY(&all);
}
