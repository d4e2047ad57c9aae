/* SPDX-License-Identifier: ISC */
/*
 * watching.c - which changes a taker watches.
 */
#include "taker.h"

static void
begin(struct fleet_taker *t, enum taker_watch what, const struct records_range *range, size_t n,
      int64_t from)
{
	struct taker_watching *w = &t->watching[what];

	watching_end(t, what);
	if (t->freed)
		return;
	w->taker = t;
	w->from = from;
	w->ended = false;
	w->watch = records_watch(t->fleet->store->records, range, n, from, taker_deeds.hears, w);
}

void
watching_end(struct fleet_taker *t, enum taker_watch what)
{
	struct taker_watching *w = &t->watching[what];

	if (w->watch != NULL)
		records_unwatch(w->watch);
	*w = (struct taker_watching){ .watch = NULL };
}

void
watching_end_all(struct fleet_taker *t)
{
	int i;

	for (i = 0; i < WATCHES; i++)
		watching_end(t, (enum taker_watch)i);
}

static bool
watches(const struct fleet_taker *t, enum taker_watch what)
{
	return t->watching[what].watch != NULL && !t->watching[what].ended;
}

/* Begun before the claim of a place: a taker that leaves may grant it at once. */
void
watching_own(struct fleet_taker *t)
{
	watching_own_from(t, 0);
}

void
watching_own_from(struct fleet_taker *t, int64_t from)
{
	struct key h = taker_key(t, 'h');
	struct records_range range = { .key = h.s };

	if (!watches(t, WATCH_OWN))
		begin(t, WATCH_OWN, &range, 1, t->watching[WATCH_OWN].ended ? 0 : from);
}

void
watching_line(struct fleet_taker *t, int64_t from)
{
	struct key mine = taker_key(t, 'w');
	struct key before = key_of(&t->fleet->limiter, 'w', t->before);
	struct key life = key_of(&t->fleet->limiter, 'l', t->before_life),
		   life_end = key_end(&life);
	struct records_range range[] = { { .key = t->fleet->limiter.s },
					 { .key = mine.s, .no_put = true },
					 { .key = before.s, .no_put = true },
					 { .key = life.s, .end = life_end.s, .no_put = true } };

	begin(t, WATCH_LINE, range, t->before[0] != '\0' ? 4 : 2, from);
	t->watching[WATCH_LINE].before = t->before_created;
}

bool
watching_goes_on(const struct fleet_taker *t)
{
	return watches(t, WATCH_LINE) && t->watching[WATCH_LINE].before == t->before_created;
}

/*
 * From now on, and not from its look on: etcd reports past changes, however few, only when it comes
 * to them, up to 100 ms later.
 */
void
watching_all(struct fleet_taker *t)
{
	struct key mine = taker_key(t, 'w'), start, end;
	struct records_range range[] = { { .key = start.s, .end = end.s },
					 { .key = mine.s, .no_put = true } };

	key_watched(&t->fleet->limiter, &start, &end);
	if (!watches(t, WATCH_ALL))
		begin(t, WATCH_ALL, range, 2, 0);
}
