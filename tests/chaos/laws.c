/* SPDX-License-Identifier: ISC */
/*
 * laws.c - never over the limit, first come first served but for consent, each ticket once.
 *
 * What is known for certain of a run: it was granted after it was launched and before its
 * command said that it had started; and it held its permit from then until `surely'.
 *
 * Law 1.  At the start of b, take those that surely held at that instant, b among them.  The
 * last of them to be granted, call it z, was granted when all the others held already, for they
 * hold still.  So their sum was measured at that grant, and was at most the limit in force for
 * z: the override, if there was one, or else the smallest limit that one of them declares.  The
 * one exception: z alone, under an override, may weigh more.  As fences rise with the grants, z
 * has the highest fence; if they do not, that is a violation as well.
 *
 * Law 2.  A run with a lower fence than z was granted before z, though its command may say so
 * later.  So the same must hold for the larger sum of those with a fence up to z which have
 * started at any time, before or after, and surely hold after the start of b.  Where a lower
 * fence was overtaken, its weight was not there to be measured, and the sum is too large.  And
 * each was granted after all of its key with a lower ticket, but for as many as it consented to: in a
 * limiter that is never fair all have one key, and in the other the order within a key holds always.
 *
 * By the same reasoning b was not granted while those before it surely held so much that b did
 * not fit; so the limit of which it was told must have been in force at some time after that, and
 * the limiter not paused and its gate not closed.
 *
 * The files of a limiter are accounted apart: in a new one the permits of the old do not count.
 */
#include "life.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ACTIVE 1000

static int
by_birth_and_fence(const void *a, const void *b)
{
	const struct run *x = *(const struct run *const *)a, *y = *(const struct run *const *)b;

	if (x->birth != y->birth)
		return x->birth < y->birth ? -1 : 1;
	return x->fence < y->fence ? -1 : x->fence > y->fence;
}

static int
by_start(const void *a, const void *b)
{
	const struct run *x = *(const struct run *const *)a, *y = *(const struct run *const *)b;

	return x->started < y->started ? -1 : x->started > y->started;
}

/* ---- when was it granted, at the earliest? ---- */

static int
by_surely_down(const void *a, const void *b)
{
	const struct run *x = *(const struct run *const *)a, *y = *(const struct run *const *)b;

	return x->surely > y->surely ? -1 : x->surely < y->surely;
}

static uint64_t
earliest(const struct life *l, size_t place, const struct run **before)
{
	const struct run *b = l->run[place];
	bool overridden = life_may_be(l, OVERRIDE, (int64_t)b->told, b->launched, b->started);
	struct sum sum = { .limit = NEVER };
	size_t n = 0, i;

	for (i = place; i-- > 0 && l->last[i] > b->launched;)
		if (l->run[i]->surely > b->launched)
			before[n++] = l->run[i];
	if (n > 1)
		qsort(before, n, sizeof(*before), by_surely_down);
	life_count(l, &sum, b);
	for (i = 0; i < n; i++) {
		life_count(l, &sum, before[i]);
		if (sum.weight > (overridden ? b->told : sum.limit))
			return before[i]->surely;
	}
	return b->launched;
}

/* ---- at each start ---- */

static size_t
place_of(const struct life *l, const struct run *r)
{
	size_t low = 0, high = l->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (l->run[middle]->fence < r->fence)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
has_seat(const struct run *r, uint64_t seat)
{
	return seat < 64 && (r->seats >> seat & 1) != 0;
}

/* A run that was told one seat alone has that, and perhaps others of which nobody knows. */
static bool
share_a_seat(const struct run *a, const struct run *b)
{
	if (a->seats != 0 && b->seats != 0)
		return (a->seats & b->seats) != 0;
	if (a->seats == 0 && b->seats == 0)
		return a->seat == b->seat;
	return a->seats == 0 ? has_seat(b, a->seat) : has_seat(a, b->seat);
}

static void
check_start(const struct life *l, const struct run *b, const struct run *const *active, size_t n,
	    struct verdict *v)
{
	struct sum now = { .limit = NEVER }, all;
	const struct run *z = b;
	size_t i;

	for (i = 0; i < n; i++) {
		life_count(l, &now, active[i]);
		if (active[i]->fence > z->fence)
			z = active[i];
		if (active[i] != b && share_a_seat(active[i], b))
			chaos_guilty(v, SEAT_SHARED, b->started,
				     "tickets %" PRIu64 " and %" PRIu64 " share a seat: %" PRIx64
				     " and %" PRIx64,
				     b->ticket, active[i]->ticket, b->seats, active[i]->seats);
	}
	if (life_bound(l, z, &now) == 0)
		return; /* told of by check_told() */
	if (now.weight > life_bound(l, z, &now)) {
		chaos_guilty(v, OVER_LIMIT, b->started,
			     "at the start of ticket %" PRIu64 " %" PRIu64
			     " units are held by %" PRIu64 "; at most %" PRIu64,
			     b->ticket, now.weight, now.runs, life_bound(l, z, &now));
		return;
	}
	all = life_up_to(l, place_of(l, z), b->started);
	if (all.weight > life_bound(l, z, &all))
		chaos_guilty(v, OVERTAKEN, b->started,
			     "when ticket %" PRIu64 " started, %" PRIu64
			     " units were due to tickets up to %" PRIu64 "; at most %" PRIu64,
			     b->ticket, all.weight, z->ticket, life_bound(l, z, &all));
}

/* What it was told must have been so, and nothing is granted in a pause or behind a closed gate. */
static void
check_told(const struct life *l, const struct run *b, struct verdict *v)
{
	struct sum alone = { .limit = NEVER };

	life_count(l, &alone, b);
	if (life_bound(l, b, &alone) == 0)
		chaos_guilty(v, UNTRUE_LIMIT, b->started,
			     "ticket %" PRIu64 " was told a limit of %" PRIu64
			     ", which was not in force",
			     b->ticket, b->told);
	if (!life_may_be(l, PAUSE, 0, b->granted_from, b->started))
		chaos_guilty(v, UNTRUE_LIMIT, b->started,
			     "ticket %" PRIu64 " was granted in a paused limiter", b->ticket);
	if (!life_may_be(l, GATE, 0, b->granted_from, b->started))
		chaos_guilty(v, UNTRUE_LIMIT, b->started,
			     "ticket %" PRIu64 " was granted behind a closed gate", b->ticket);
}

static void
check_starts(const struct life *l, struct verdict *v)
{
	const struct run **order = malloc(l->n * sizeof(*order)), *active[ACTIVE];
	uint64_t *highest = malloc(l->n * sizeof(*highest));
	size_t i, j, n = 0;

	if (order == NULL || highest == NULL)
		abort();
	for (i = 0; i < l->n; i++)
		order[i] = l->run[i];
	qsort(order, l->n, sizeof(*order), by_start);
	for (i = 0; i < l->n; i++) {
		const struct run *b = order[i];
		size_t low = 0, high = i;
		highest[i] = i > 0 && highest[i - 1] > b->ticket ? highest[i - 1] : b->ticket;
		/* A run that had started before b was launched has drawn its ticket before b. */
		while (low < high) {
			j = (low + high) / 2;
			if (order[j]->started < b->launched)
				low = j + 1;
			else
				high = j;
		}
		if (low > 0 && highest[low - 1] >= b->ticket)
			chaos_guilty(v, TICKET_ORDER, b->started,
				     "ticket %" PRIu64 " came after ticket %" PRIu64, b->ticket,
				     highest[low - 1]);
		check_told(l, b, v);
		if (b->surely < b->started || n == ACTIVE)
			continue; /* it may not even have held */
		for (j = 0; j < n; j++)
			if (active[j]->surely < b->started)
				active[j--] = active[--n];
		active[n++] = b;
		check_start(l, b, active, n, v);
	}
	free(order);
	free(highest);
}

/* Those of its key that came later, and were granted before: it consented to so many. */
static void
check_consents(const struct life *l, struct verdict *v)
{
	size_t i, j;

	for (i = 0; i < l->n; i++) {
		uint64_t passed = 0;
		for (j = i; j-- > 0;)
			passed += l->run[j]->ticket > l->run[i]->ticket &&
				  l->run[j]->key == l->run[i]->key;
		if (passed > l->run[i]->want.yield)
			chaos_guilty(v, OVERTAKEN, l->run[i]->started,
				     "ticket %" PRIu64 " was overtaken by %" PRIu64
				     ", and consented to %u",
				     l->run[i]->ticket, passed, l->run[i]->want.yield);
	}
}

static void
check_life(struct life *l, struct verdict *v)
{
	const struct run **before = malloc(l->n * sizeof(*before));
	size_t i;

	l->birth = l->run[0]->birth;
	l->last = malloc(l->n * sizeof(*l->last));
	if (l->last == NULL || before == NULL)
		abort();
	for (i = 0; i < l->n; i++) {
		l->last[i] = l->run[i]->surely;
		if (i > 0 && l->last[i - 1] > l->last[i])
			l->last[i] = l->last[i - 1];
		if (i > 0 && l->run[i - 1]->fence == l->run[i]->fence)
			chaos_guilty(v, RAN_TWICE, l->run[i]->started,
				     "ticket %" PRIu64 " ran twice", l->run[i]->ticket);
	}
	foreach(const struct steer, g, l->s->steers)
		if (g->birth == l->birth)
			*(struct steer *)chaos_add(&l->steers, sizeof(*g)) = *g;
	/* Until it is known better. */
	for (i = 0; i < l->n; i++)
		l->run[i]->granted_from = l->run[i]->launched;
	for (i = 0; i < l->n; i++)
		l->run[i]->granted_from = earliest(l, i, before);
	free(before);
	check_starts(l, v);
	check_consents(l, v);
	life_check_removed(l, v);
	free(l->last);
	free(l->steers.at);
}

void
chaos_laws(struct story *s, struct verdict *v)
{
	struct run **by_fence = malloc((s->runs.n + 1) * sizeof(*by_fence));
	size_t n = 0, i, k;

	if (by_fence == NULL)
		abort();
	foreach(struct run, r, s->runs)
		if (r->started != 0)
			by_fence[n++] = r;
	if (n > 0)
		qsort(by_fence, n, sizeof(*by_fence), by_birth_and_fence);
	for (i = 0; i < n; i = k) {
		struct life l = { .s = s, .run = by_fence + i };
		for (k = i; k < n && by_fence[k]->birth == by_fence[i]->birth; k++)
			l.n++;
		check_life(&l, v);
	}
	free(by_fence);
}
