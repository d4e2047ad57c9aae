/* SPDX-License-Identifier: ISC */
/*
 * map.c - maps: items under a permit each.
 */
#include "contract.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#define ITEMS 12

struct job {
	struct flk_map *map;
	unsigned given; /* items */
	unsigned fails; /* the item that fails; 0: none */
	unsigned stops; /* at this item, next() stops the map; 0: never */
	_Atomic int at_once, most, worked, done, dropped;
};

static int
next(void *context, void **item, struct flk_request *want)
{
	struct job *j = context;

	(void)want;
	if (j->given == ITEMS)
		return 0;
	*item = (void *)(uintptr_t)++j->given;
	if (j->given == j->stops)
		flk_map_stop(j->map);
	return 1;
}

static int
work(void *context, void *item, struct flk_taker *t)
{
	struct job *j = context;
	struct flk_permit p;
	int now = atomic_fetch_add(&j->at_once, 1) + 1, most = j->most;
	bool holds = flk_permit(t, &p) == 0 && p.weight == 1;

	while (now > most && !atomic_compare_exchange_weak(&j->most, &most, now))
		;
	atomic_fetch_add(&j->worked, 1);
	atomic_fetch_sub(&j->at_once, 1);
	return !holds ? -EPERM : (uintptr_t)item == j->fails ? 7 : 0;
}

static void
done(void *context, void *item, int result)
{
	struct job *j = context;

	(void)item;
	(void)result;
	atomic_fetch_add(&j->done, 1);
}

static void
drop(void *context, void *item)
{
	struct job *j = context;

	(void)item;
	atomic_fetch_add(&j->dropped, 1);
}

static int
run(struct flk *f, struct job *j, const struct timespec *patience)
{
	struct flk_map_options o = { .want = { .weight = 1, .limit = 2 },
				     .patience = patience,
				     .context = j,
				     .next = next,
				     .work = work,
				     .done = done,
				     .drop = drop };
	int error = side.map_new(&j->map, strrchr(flk_path(f), '/') + 1, &o);

	if (error != 0)
		tap_bail("no map: %s", side.strerror(error));
	error = flk_map_run(j->map);
	flk_map_free(j->map);
	return error;
}

static void
maps(void)
{
	static const struct timespec none = { .tv_sec = 0 };
	struct flk *f = limiter(2);
	struct flk_taker *t = taker(f);
	struct job all = { .fails = 0 }, fails = { .fails = 3 }, stops = { .stops = 2 },
		   late = { .fails = 0 };
	struct flk_map *map;

	is(side.map_new(&map, "no such name!", &(struct flk_map_options){ .next = next }),
	   -FLK_BADNAME, "a map of a bad name");
	is(run(f, &all, NULL), 0, "a map runs");
	ok(all.worked == ITEMS && all.done == ITEMS && all.dropped == 0, "and does each item");
	ok(all.most <= 2, "under a permit");
	is(run(f, &fails, NULL), 7, "the code of an item that fails is the map's");
	ok(fails.done == fails.worked && fails.worked >= 3, "and each that began is done");
	is(run(f, &stops, NULL), 0, "a map that is stopped has not failed");
	ok(stops.given == 2 && stops.worked + stops.dropped == 2, "and begins no more");
	take(t, 2, 2);
	is(run(f, &late, &none), -EAGAIN, "an item without patience gets no permit");
	ok(late.worked == 0 && late.done == 0 && late.dropped == 1, "and is dropped");
	flk_map_free(NULL);
	done_with(f, "maps", t, NULL);
}

void
contract_map(void)
{
	maps();
}
