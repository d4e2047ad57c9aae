/* SPDX-License-Identifier: ISC */
/*
 * turns.c - whose turn it is in a fair limiter, by what the store's records say.
 */
#include "protocol/turns.h"
#include "protocol/record.h"
#include "sim.h"
#include "truth.h"

#include <stdlib.h>
#include <string.h>

#define MOST 64 /* takers of a history that is fair */

static struct turns was, now; /* before the changes, and by now */
static bool put, fair;        /* fair: cfg says so */

void
turns_begin(void)
{
	was = now = (struct turns){ .changed = 0 };
	put = fair = false;
}

void
turns_change(const struct memory_record *r, char kind)
{
	struct flk_settings config;
	struct turns *t;

	if (kind == CONFIG)
		fair = !r->deleted && config_decode(&config, r->kv.value, r->kv.value_size) &&
		       config.fair != FLK_FAIR_OFF;
	if (kind != AROUND)
		return;
	put = true;
	t = r->deleted ? NULL : turns_read(&r->kv);
	now = t != NULL ? *t : (struct turns){ .changed = 0 };
	free(t);
}

#define LOOKED (5 * SECOND) /* a granter may have looked as long ago */

/* By a look some time ago, it may have been dead, or alive, or not there: that is another order. */
static bool
is_doubtful(const struct taker *t)
{
	const struct machine *m = t->machine;

	return m->gone_ns != 0 || true_ns <= m->back_ns + LOOKED || t->said.key == 0 ||
	       t->said.manual;
}

/* A round may pass who comes between its look and its grant, if others have come so before. */
#define LAX SECOND

static bool
is_one_of(struct taker *const *some, size_t n, const struct taker *t)
{
	size_t i;

	for (i = 0; i < n && some[i] != t; i++)
		;
	return i < n;
}

/* Those that are granted, and those that wait, in the order of their tickets. */
static size_t
gather(struct taker *const *granted, size_t grants, const struct taker *all[MOST])
{
	const struct taker *t;
	size_t n = 0, i, k;

	for (i = 0; i < grants; i++)
		all[n++] = granted[i];
	TAILQ_FOREACH(t, &sim.line, in_line)
		if (n < MOST)
			all[n++] = t;
	for (i = 1; i < n; i++)
		for (k = i;
		     k > 0 && (all[k - 1]->permit != 0 ? all[k - 1]->permit : all[k - 1]->place) >
				  (all[k]->permit != 0 ? all[k]->permit : all[k]->place);
		     k--) {
			const struct taker *swap = all[k];
			all[k] = all[k - 1];
			all[k - 1] = swap;
		}
	return n;
}

/* The ends of both, whatever order they stand in. */
static bool
is_same(const struct turns *a, const struct turns *b)
{
	size_t i, k;

	if (a->turn != b->turn || a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++) {
		for (k = 0; k < b->n && b->of[k].key != a->of[i].key; k++)
			;
		if (k == b->n || b->of[k].end != a->of[i].end)
			return false;
	}
	return true;
}

const struct taker *
turns_next(void)
{
	const struct taker *all[MOST];
	struct rank rank[MOST];
	size_t n = gather(NULL, 0, all), i;

	for (i = 0; i < n; i++)
		rank[i] = (struct rank){ .record = &all[i]->said, .at = i };
	turns_rank(&now, FLK_FAIR_KEY, rank, n);
	return n > 0 ? all[rank[0].at] : NULL;
}

static void
check(struct taker *const *granted, size_t grants)
{
	const struct taker *all[MOST], *passed = NULL;
	struct rank rank[MOST];
	struct turns must = was, anew = { .changed = 0 };
	size_t n = gather(granted, grants, all), i, left = grants;
	bool doubt = false;

	for (i = 0; i < n; i++)
		doubt |= is_doubtful(all[i]);
	for (i = 0; i < n; i++)
		rank[i] = (struct rank){ .record = &all[i]->said, .at = i };
	turns_rank(&was, FLK_FAIR_KEY, rank, n);
	for (i = 0; i < n && left > 0; i++) {
		const struct taker *t = all[rank[i].at];

		if (!is_one_of(granted, grants, t)) {
			if (passed == NULL && true_ns > t->placed_ns + LAX)
				passed = t;
			continue;
		}
		left--;
		turns_give(&must, FLK_FAIR_KEY, &t->said);
		turns_give(&anew, FLK_FAIR_KEY, &t->said);
		if (passed != NULL && !doubt)
			breaks(TURNS, "t%u is granted, and it is the turn of t%u", t->number,
			       passed->number);
	}
	if (!put)
		breaks(TURNS, "%zu are granted, and their turns are not counted", grants);
	else if (!(grants > 1 && doubt) && !is_same(&now, &must) &&
		 !(grants == 1 && is_same(&now, &anew)))
		breaks(TURNS, "%zu are granted, and the turns are not theirs", grants);
}

void
turns_check(struct taker *const *granted, size_t grants)
{
	if (grants > 0 && fair)
		check(granted, grants);
	was = now;
	put = false;
}
