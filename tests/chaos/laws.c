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
 * Law 2.  Whoever has a lower fence than z was granted before z, though its command may say so
 * later.  So the same must hold for the larger sum of those with a fence up to z which have
 * started at any time, before or after, and surely hold after the start of b.  Where a lower
 * fence was overtaken, its weight was not there to be measured, and the sum is too large.  And
 * each was granted after all with a lower ticket, but for as many as it consented to.
 *
 * By the same reasoning b was not granted while those before it surely held so much that b did
 * not fit; so the limit of which it was told must have been in force at some time after that, and
 * the limiter not paused and its gate not closed.
 *
 * The files of a limiter are accounted apart: in a new one the permits of the old do not count.
 */
#include "judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define ACTIVE 1000

struct life { /* of one file: the runs in it by fence, that is, as they were granted */
	const struct story *s;
	struct run **run;
	uint64_t *last; /* the latest `surely' of those up to here */
	struct array steers;
	size_t n;
	uint64_t birth;
};

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

/* ---- which limit was in force? ---- */

/*
 * May this have been so at some time between?  A change happens between its two times, so the
 * state before it is possible until the second and the state after it from the first.
 */
static bool
possible(const struct life *l, enum verb verb, int64_t value, uint64_t from, uint64_t to)
{
	int64_t now = verb == OVERRIDE ? -1 : 0;
	uint64_t since = 0;

	foreach(const struct steer, g, l->steers) {
		if (g->verb != verb)
			continue;
		if (now == value && since <= to && g->until >= from)
			return true;
		now = g->value;
		since = g->since;
	}
	return now == value && since <= to;
}

/* Its own limit, if it is known: one without -n was told it, unless that was an override. */
static uint64_t
declared(const struct life *l, const struct run *r)
{
	if (r->n != 0)
		return r->n;
	return possible(l, OVERRIDE, (int64_t)r->told, r->granted_from, r->started) ? NEVER
										    : r->told;
}

struct sum {
	uint64_t weight, runs, limit; /* limit: the smallest declared */
};

static void
count(const struct life *l, struct sum *sum, const struct run *r)
{
	uint64_t own = declared(l, r);

	sum->weight += r->w;
	sum->runs++;
	if (own < sum->limit)
		sum->limit = own;
}

/* What the sum may be, if z is the last that was granted. */
static uint64_t
bound(const struct life *l, const struct run *z, const struct sum *sum)
{
	bool overridden = possible(l, OVERRIDE, (int64_t)z->told, z->granted_from, z->started);
	bool own = (z->n == 0 || z->n == z->told) &&
		   possible(l, OVERRIDE, -1, z->granted_from, z->started);

	if (overridden && sum->runs == 1)
		return NEVER;
	return overridden ? z->told : own ? sum->limit : 0;
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
	bool overridden = possible(l, OVERRIDE, (int64_t)b->told, b->launched, b->started);
	struct sum sum = { .limit = NEVER };
	size_t n = 0, i;

	for (i = place; i-- > 0 && l->last[i] > b->launched;)
		if (l->run[i]->surely > b->launched)
			before[n++] = l->run[i];
	if (n > 1)
		qsort(before, n, sizeof(*before), by_surely_down);
	count(l, &sum, b);
	for (i = 0; i < n; i++) {
		count(l, &sum, before[i]);
		if (sum.weight > (overridden ? b->told : sum.limit))
			return before[i]->surely;
	}
	return b->launched;
}

/* ---- at each start ---- */

/* Those up to z that surely hold at t. */
static struct sum
up_to(const struct life *l, size_t z, uint64_t t)
{
	struct sum sum = { .limit = NEVER };
	size_t i;

	for (i = z + 1; i-- > 0 && l->last[i] >= t;)
		if (l->run[i]->surely >= t)
			count(l, &sum, l->run[i]);
	return sum;
}

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
		count(l, &now, active[i]);
		if (active[i]->fence > z->fence)
			z = active[i];
		if (active[i] != b && share_a_seat(active[i], b))
			chaos_guilty(v, SEAT_SHARED, b->started,
				     "tickets %" PRIu64 " and %" PRIu64 " share a seat: %" PRIx64
				     " and %" PRIx64,
				     b->ticket, active[i]->ticket, b->seats, active[i]->seats);
	}
	if (bound(l, z, &now) == 0)
		return; /* told of by check_told() */
	if (now.weight > bound(l, z, &now)) {
		chaos_guilty(v, OVER_LIMIT, b->started,
			     "at the start of ticket %" PRIu64 " %" PRIu64
			     " units are held by %" PRIu64 "; at most %" PRIu64,
			     b->ticket, now.weight, now.runs, bound(l, z, &now));
		return;
	}
	all = up_to(l, place_of(l, z), b->started);
	if (all.weight > bound(l, z, &all))
		chaos_guilty(v, OVERTAKEN, b->started,
			     "when ticket %" PRIu64 " started, %" PRIu64
			     " units were due to tickets up to %" PRIu64 "; at most %" PRIu64,
			     b->ticket, all.weight, z->ticket, bound(l, z, &all));
}

/* What it was told must have been so, and nothing is granted in a pause or behind a closed gate. */
static void
check_told(const struct life *l, const struct run *b, struct verdict *v)
{
	struct sum alone = { .limit = NEVER };

	count(l, &alone, b);
	if (bound(l, b, &alone) == 0)
		chaos_guilty(v, UNTRUE_LIMIT, b->started,
			     "ticket %" PRIu64 " was told a limit of %" PRIu64
			     ", which was not in force",
			     b->ticket, b->told);
	if (!possible(l, PAUSE, 0, b->granted_from, b->started))
		chaos_guilty(v, UNTRUE_LIMIT, b->started,
			     "ticket %" PRIu64 " was granted in a paused limiter", b->ticket);
	if (!possible(l, GATE, 0, b->granted_from, b->started))
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
		/* Who had started before b was launched has drawn its ticket before b. */
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

/* ---- files that were removed, and limiters that were idle ---- */

/*
 * Nobody who is launched after the file was removed finds it, and whoever is granted after that
 * goes over to the new one before it runs.  So all that ever start in the old one and surely hold
 * after the removal had their permits before: together they are within the limit.
 */
static void
check_removals(const struct life *l, struct verdict *v)
{
	uint64_t first = NEVER;
	struct sum sum;
	size_t i, z;

	for (i = 0; i < l->n; i++)
		if (l->run[i]->started < first)
			first = l->run[i]->started;
	foreach(const struct span, u, l->s->removals) {
		if (u->of != l->run[0]->lim || first >= u->from)
			continue;
		for (i = 0; i < l->n; i++)
			if (l->run[i]->launched > u->to)
				chaos_guilty(v, OLD_FILE, l->run[i]->started,
					     "taker %" PRIu64 " was launched when the file of its "
					     "ticket %" PRIu64 " was gone",
					     l->run[i]->id, l->run[i]->ticket);
		for (z = l->n - 1; z > 0 && l->run[z]->surely < u->to; z--)
			;
		sum = up_to(l, z, u->to);
		if (sum.weight > 0 && sum.weight > bound(l, l->run[z], &sum))
			chaos_guilty(v, OLD_FILE, u->to,
				     "%" PRIu64
				     " units go on in a file that was removed, of %" PRIu64,
				     sum.weight, bound(l, l->run[z], &sum));
		break;
	}
}

/*
 * Nobody held it then, and nobody was given a permit after that.  A command without a guard may say
 * that it has started when its wrapper is dead, and its permit gone: it is no holder, as in
 * check_starts().
 */
static bool
is_in_removed(const struct run *r, const struct span *removal)
{
	if (r->surely < r->started)
		return false;
	return r->started > removal->to || (r->started < removal->from && r->surely > removal->to);
}

static void
check_idle_removals(const struct life *l, struct verdict *v)
{
	foreach(const struct span, m, l->s->idle_removals) {
		size_t i;
		if (m->of != l->birth)
			continue;
		for (i = 0; i < l->n; i++)
			if (is_in_removed(l->run[i], m))
				chaos_guilty(v, OLD_FILE, m->to,
					     "ticket %" PRIu64
					     " runs in a limiter that was removed",
					     l->run[i]->ticket);
	}
}

/* Who surely held when flk_wait_idle() was called, no longer did when it returned. */
static void
check_idles(const struct life *l, struct verdict *v)
{
	foreach(const struct span, idle, l->s->idles) {
		size_t i;
		if (idle->of != l->birth)
			continue;
		for (i = 0; i < l->n; i++)
			if (l->run[i]->started < idle->from && l->run[i]->surely > idle->to)
				chaos_guilty(v, NOT_IDLE, idle->to,
					     "ticket %" PRIu64 " still holds what is called idle",
					     l->run[i]->ticket);
	}
}

/* Those that came later, and were granted before: it consented to so many. */
static void
check_consents(const struct life *l, struct verdict *v)
{
	size_t i, j;

	for (i = 0; i < l->n; i++) {
		uint64_t passed = 0;
		for (j = i; j-- > 0;)
			passed += l->run[j]->ticket > l->run[i]->ticket;
		if (passed > l->run[i]->yield)
			chaos_guilty(v, OVERTAKEN, l->run[i]->started,
				     "ticket %" PRIu64 " was overtaken by %" PRIu64
				     ", and consented to %" PRIu64,
				     l->run[i]->ticket, passed, l->run[i]->yield);
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
	check_removals(l, v);
	check_idles(l, v);
	check_idle_removals(l, v);
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
