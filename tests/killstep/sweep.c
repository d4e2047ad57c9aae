/* SPDX-License-Identifier: ISC */
/*
 * sweep.c - at which points of an operation the kills are made.
 *
 * Two kills that leave the same (remains.c) have the same future, so what need not be made twice is
 * sampled: the first kill is made at every point, and where it leaves something new, holders then end
 * by death, too; the second where both leave something that no two kills of this operation have left,
 * and now and then elsewhere.
 */
#include "sweep.h"

#include <limits.h>

#include "../helpers/common.h"

#define TOLD   8  /* failures of one operation that are printed */
#define SELDOM 10 /* of so many kills that leave nothing new, one is made */

static struct stage stage;
static uint64_t seed; /* for the line that repeats a failure */

void
sweep_seed(uint64_t of)
{
	seed = of;
}

static void
report(struct tally *t, const struct operation *op, long k, long j, unsigned style)
{
	if (t->failures++ >= TOLD)
		return;
	tap_note("%s: killed after %ld of %ld%s", op->name, k, trace.points,
		 j < 0 ? "" : ", and the mender:");
	if (j >= 0)
		tap_note("  after %ld of %ld", j, second_trace.points);
	tap_note("  %s", stage.why);
	if (j >= 0)
		tap_note("  again: -o '%s' -k %ld -j %ld -y %u -s %llu", op->name, k, j, style,
			 (unsigned long long)seed);
	else
		tap_note("  again: -o '%s' -k %ld -y %u -s %llu", op->name, k, style,
			 (unsigned long long)seed);
}

static void
kill_once(struct tally *t, const struct operation *op, long k, unsigned style)
{
	t->first++;
	if (!play(&stage, op, k, -1, style, false, NULL))
		report(t, op, k, -1, style);
}

static bool
kill_twice(struct tally *t, const struct operation *op, long k, long j, unsigned style)
{
	long points = 0;
	bool passed = play(&stage, op, k, j, style, false, &points);

	t->second += points >= 0;
	if (!passed)
		report(t, op, k, j, style);
	return points >= 0;
}

/* The mender's trace after a kill at k: false if nobody has anything to mend. */
static bool
rehearse_mender(struct tally *t, const struct operation *op, long k)
{
	long points = -1;

	if (!play(&stage, op, k, LONG_MAX, 0, true, &points) && points >= 0)
		report(t, op, k, points, 0);
	if (points > t->most_second)
		t->most_second = points;
	return points >= 0;
}

/* Has no kill of this operation left that before?  Then it is noted. */
static bool
is_new(_Atomic uint64_t left[REMAINS], uint64_t remains)
{
	uint64_t was;
	size_t i;

	remains |= 1; /* 0 is an empty place */
	for (i = 0; i < REMAINS; i++) {
		was = 0;
		if (atomic_compare_exchange_strong(&left[(remains + i) % REMAINS], &was, remains))
			return true;
		if (was == remains)
			return false;
	}
	return true;
}

/* All second kills after a first at k, which is one of so many. */
static void
sweep_mender(struct tally *t, const struct operation *op, struct left *left, long k, long states)
{
	long j;

	if (!rehearse_mender(t, op, k))
		return;
	t->states++;
	for (j = 0; j <= second_trace.points && t->failures < TOLD; j++)
		if ((trace_changed(&second_trace, j) &&
		     is_new(left->second, second_trace.remains[j])) ||
		    random_below((uint32_t)(SELDOM * states)) == 0)
			kill_twice(t, op, k, j, j % 3 ? 0 : BY_DEATH);
}

void
sweep(struct tally *t, const struct operation *op, struct left *left, bool new_only, unsigned share,
      unsigned shares)
{
	long k, states = 0, index = -1;

	if (!rehearse(&stage, op)) {
		report(t, op, trace.points, -1, 0);
		return;
	}
	t->points = trace.points;
	for (k = 0; k <= trace.points; k++)
		states += trace_changed(&trace, k);
	for (k = 0; k <= trace.points && t->failures < TOLD; k++) {
		if ((unsigned long)k % shares != share)
			continue;
		if (trace_changed(&trace, k)) {
			kill_once(t, op, k, 0);
			kill_once(t, op, k, BACKWARD | BY_DEATH);
		} else if (!new_only || random_below(SELDOM) == 0) {
			kill_once(t, op, k, (unsigned long)k / shares % 2 ? 0 : BACKWARD);
		}
	}
	for (k = 0; k <= trace.points && left != NULL && t->failures < TOLD; k++)
		if (trace_changed(&trace, k) && (unsigned long)++index % shares == share &&
		    is_new(left->first, trace.remains[k]))
			sweep_mender(t, op, left, k, states);
}

void
sample(struct tally *t, const struct operation *op, uint64_t until)
{
	enum { STRIDES = 16 };
	long k, i, offset; /* from a random one on */

	if (!rehearse(&stage, op)) {
		report(t, op, trace.points, -1, 0);
		return;
	}
	t->points = trace.points;
	offset = (long)random_below((uint32_t)trace.points + 1);
	for (i = 0; i < STRIDES && t->failures < TOLD && (i < 1 || now_ns() < until); i++) {
		/* Bit-reversed, so that it is spread evenly wherever the time ends. */
		k = (i & 1) * 8 + (i & 2) * 2 + (i & 4) / 2 + (i & 8) / 8;
		k = (offset + k * trace.points / STRIDES) % (trace.points + 1);
		kill_once(t, op, k, random_below(STYLES));
		while (!trace_changed(&trace, k))
			k--;
		if (i % 4 != 1 || now_ns() > until || !rehearse_mender(t, op, k) ||
		    second_trace.points < 1)
			continue;
		t->states++;
		kill_twice(t, op, k, (long)random_below((uint32_t)second_trace.points),
			   random_below(2) ? 0 : BY_DEATH);
	}
}

void
kill_at(struct tally *t, const struct operation *op, long k, long j, unsigned style)
{
	if (!rehearse(&stage, op))
		report(t, op, trace.points, -1, 0);
	else if (j < 0)
		kill_once(t, op, k, style);
	else if (rehearse_mender(t, op, k))
		kill_twice(t, op, k, j, style);
}
