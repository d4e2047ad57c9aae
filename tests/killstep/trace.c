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
trace_add(struct trace *t, struct actor *a, uint64_t remains)
{
	long i = ++t->points;

	if (i >= t->room) {
		t->room = t->room != 0 ? 2 * t->room : 4096;
		t->pc = realloc(t->pc, (size_t)t->room * sizeof(*t->pc));
		t->slept = realloc(t->slept, (size_t)t->room * sizeof(*t->slept));
		t->remains = realloc(t->remains, (size_t)t->room * sizeof(*t->remains));
		t->before = realloc(t->before, (size_t)t->room * sizeof(*t->before));
		t->awake = realloc(t->awake, (size_t)t->room * sizeof(*t->awake));
		if (!t->pc || !t->slept || !t->remains || !t->before || !t->awake)
			tap_bail("memory");
	}
	t->slept[i] = a->where == ASLEEP;
	t->remains[i] = remains;
	t->pc[i] = a->where == AMID && a->call == -1 ? actor_pc(a) : 0;
}

bool
trace_changed(const struct trace *t, long point)
{
	return point == 0 || t->remains[point] != t->remains[point - 1];
}

/* The latest point at which each instruction was seen. */
enum { BUCKETS = 1 << 15 };

static struct {
	uintptr_t pc;
	long point;
} seen[BUCKETS];

/* Notes that the instruction is at this point, and returns where it was last; -1: nowhere. */
static long
see(uintptr_t pc, long point)
{
	size_t b = pc * 2654435761u % BUCKETS;
	long last;

	while (seen[b].pc != 0 && seen[b].pc != pc)
		b = (b + 1) % BUCKETS;
	last = seen[b].pc != 0 ? seen[b].point : -1;
	seen[b].pc = pc;
	seen[b].point = point;
	return last;
}

void
trace_finish(struct trace *t)
{
	long i, awake = t->points;

	memset(seen, 0, sizeof(seen));
	for (i = 0; i <= t->points; i++)
		t->before[i] = t->pc[i] != 0 ? see(t->pc[i], i) : i;
	for (i = t->points; i >= 0; i--) {
		t->awake[i] = awake;
		if (t->slept[i])
			awake = i - 1;
	}
}

long
trace_leap(const struct trace *t, long from, long to)
{
	/* Not across a sleep: who ends that is not told. */
	long point = to < t->awake[from] ? to : t->awake[from];

	while (point > from && t->before[point] >= from)
		point--;
	return point;
}
