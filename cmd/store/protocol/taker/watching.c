/* SPDX-License-Identifier: ISC */
/*
 * watching.c - which changes a taker watches.
 */
#include "taker.h"

static void
begin(struct fleet_taker *t, enum taker_watch what, const struct records_range *range, size_t n,
      int64_t from)
{
	taker_unwatch(t);
	if (t->freed)
		return;
	t->watch = records_watch(t->fleet->records, range, n, from, t->deeds->hears, t);
	t->watching = t->watch != NULL ? what : WATCH_NONE;
}

void
watch_line(struct fleet_taker *t, int64_t from)
{
	struct key mine = taker_key(t, 'w');
	struct key before = key_of(&t->fleet->limiter, 'w', t->before);
	struct records_range range[] = { { .key = before.s, .no_put = true },
					 { .key = mine.s, .no_put = true },
					 { .key = t->fleet->limiter.s } };

	if (t->watching != WATCH_LINE)
		begin(t, WATCH_LINE, range, 3, from);
}

/*
 * From now on, and not from its look on: etcd reports past changes, however few, only when it comes
 * to them, up to 100 ms later.
 */
void
watch_first(struct fleet_taker *t)
{
	struct key mine = taker_key(t, 'w'), start, end;
	struct records_range range[] = { { .key = start.s, .end = end.s },
					 { .key = mine.s, .no_put = true } };

	key_watched(&t->fleet->limiter, &start, &end);
	if (t->watching != WATCH_FIRST)
		begin(t, WATCH_FIRST, range, 2, 0);
}

void
watch_held(struct fleet_taker *t, int64_t from)
{
	struct key h = taker_key(t, 'h'), l = taker_key(t, 'l');
	struct records_range range[] = { { .key = h.s, .no_put = true },
					 { .key = l.s, .no_put = true } };

	if (t->watching != WATCH_HELD)
		begin(t, WATCH_HELD, range, 2, from);
}
