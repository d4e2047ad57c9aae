/* SPDX-License-Identifier: ISC */
/*
 * trace.c - what an actor's steps were, and where one can leap among them.
 */
#include "killstep.h"

#include <stdlib.h>
#include <string.h>

#include "../helpers/common.h"

void
trace_reset(struct trace *t)
{
	t->points = -1;
}

void
trace_add(struct trace *t, struct actor *a, bool changed)
{
	long i = ++t->points;

	if (i >= t->room) {
		t->room = t->room != 0 ? 2 * t->room : 4096;
		t->pc = realloc(t->pc, (size_t)t->room * sizeof(*t->pc));
		t->slept = realloc(t->slept, (size_t)t->room * sizeof(*t->slept));
		t->changed = realloc(t->changed, (size_t)t->room * sizeof(*t->changed));
		t->anchor = realloc(t->anchor, (size_t)t->room * sizeof(*t->anchor));
		t->hits = realloc(t->hits, (size_t)t->room * sizeof(*t->hits));
		if (!t->pc || !t->slept || !t->changed || !t->anchor || !t->hits)
			tap_bail("memory");
	}
	t->slept[i] = a->where == ASLEEP;
	t->changed[i] = changed || (a->call != -1 && a->call != CLOCK_CALL);
	t->pc[i] = a->where == AMID && a->call == -1 ? actor_pc(a) : 0;
}

/* How often each instruction was seen since the start or the last sleep. */
enum { BUCKETS = 1 << 15 };

static struct {
	uintptr_t pc;
	long hits;
} seen[BUCKETS];

static long
count_hit(uintptr_t pc)
{
	size_t b = pc * 2654435761u % BUCKETS;

	while (seen[b].pc != 0 && seen[b].pc != pc)
		b = (b + 1) % BUCKETS;
	seen[b].pc = pc;
	return ++seen[b].hits;
}

/*
 * An anchor is a point that a breakpoint reaches with few hits: each costs as much as two steps.
 * The count begins anew at a base, the first point from which one can leap after the start or a
 * sleep; hits is 0 there and at all points before it.
 */
void
trace_finish(struct trace *t)
{
	long i, best = 0;
	bool base = true;

	for (i = 0; i <= t->points; i++) {
		base = base || t->slept[i];
		t->hits[i] = 0;
		if (base) {
			memset(seen, 0, sizeof(seen));
			best = i;
			base = t->pc[i] == 0;
			if (!base)
				count_hit(t->pc[i]);
		} else if (t->pc[i] != 0) {
			t->hits[i] = count_hit(t->pc[i]);
			if (2 * t->hits[i] - i < 2 * t->hits[best] - best)
				best = i;
		}
		t->anchor[i] = best;
	}
}
