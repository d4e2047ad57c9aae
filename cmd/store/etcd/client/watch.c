/* SPDX-License-Identifier: ISC */
/*
 * watch.c - watches, each of which continues at another endpoint, or later at the same, from where
 * each of its ranges was.
 *
 *   waits       -> in the feed  [feed_add]         when the client is ready
 *   in the feed -> waits        [feed_drop]        to another endpoint, or for another token
 *   any         -> over         [watch_end]        it can't continue: the caller has the reason
 *   any         -> dead         [records_unwatch]  the server is told a second later, as most clients
 *                                                  have closed the connection by then
 *
 * W1  range.next of every range is the first revision of which nothing was reported; 0: not known.
 */
#include "watch.h"

#include <stdlib.h>

#include "now.h"
#include "records/range.h"

#define GONE_NS SECOND

static void
destroy(struct records_watch *w)
{
	size_t i;

	LIST_REMOVE(w, link);
	for (i = 0; i < w->ranges; i++)
		ranges_free(&w->range[i].of, 1);
	free(w);
}

void
records_unwatch(struct records_watch *w)
{
	w->over = w->dead = true;
	w->due = flki_boottime_ns() + GONE_NS;
}

void
watch_report(struct records_watch *w, enum records_news_kind kind,
	     const struct records_change *change, const char *text)
{
	struct records_news news = { .kind = kind, .change = change, .text = text };

	if (kind == WATCH_BEGUN) {
		news.revision = w->begun_at;
		w->begun_at = 0;
	}
	if (!w->dead)
		w->hears(w->context, &news);
}

void
watch_end(struct records_watch *w, enum records_news_kind kind, const char *text)
{
	w->over = true;
	watch_report(w, kind, NULL, text);
}

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w;

	if (ranges == 0 || ranges > RECORDS_RANGES)
		return NULL;
	w = calloc(1, sizeof(*w) + ranges * sizeof(w->range[0]));
	if (w == NULL)
		return NULL;
	w->records = r;
	w->hears = hears;
	w->context = context;
	LIST_INSERT_HEAD(&r->watches, w, link);
	for (; w->ranges < ranges; w->ranges++) {
		struct watched_range *to = &w->range[w->ranges];

		to->next = from;
		if (!ranges_copy(&to->of, &range[w->ranges], 1)) {
			destroy(w);
			return NULL;
		}
	}
	feed_join(w);
	return w;
}

/* A server that has much to begin says each that it has begun. */
static uint64_t
silent_at(const struct records_watch *w)
{
	uint64_t heard = w->records->feed.heard_ns + FEED_OPEN_NS;

	return heard > w->due ? heard : w->due;
}

static uint64_t
due(const struct records_watch *w)
{
	const struct records *r = w->records;

	if (w->dead)
		return feed_has(w) ? w->due : 0;
	if (w->over)
		return UINT64_MAX;
	if (feed_has(w))
		return w->missing > 0 ? silent_at(w) : UINT64_MAX;
	if (r->token.state == ASKED)
		return UINT64_MAX;
	return w->due > r->feed.due ? w->due : r->feed.due;
}

uint64_t
watches_due(const struct records *r)
{
	uint64_t first = UINT64_MAX;
	const struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		first = earlier(first, due(w));
	return first;
}

/*
 * The client gave the endpoint of the feed up, where the feed may hang unnoticed: it is left.  If there is no
 * other endpoint, the server may only be slow; then to begin all watches again would be much more work for it.
 */
static void
follow_turn(struct records *r)
{
	if (r->feed.x.at != client_endpoint(r)) {
		feed_drop(r);
		return;
	}
	h2_probe(&r->feed.x.stream);
	r->feed.x.turn = r->turn;
}

void
watches_step(struct records *r)
{
	uint64_t now = flki_boottime_ns();
	struct records_watch *w, *next;
	bool late = false, wait = false, leave = false;

	if (r->feed.on && r->feed.x.turn != r->turn)
		follow_turn(r);
	LIST_FOREACH(w, &r->watches, link)
		if (due(w) <= now) {
			leave |= w->dead;
			late |= !w->dead && feed_has(w);
			wait |= !w->dead && !feed_has(w);
		}
	/* All that are dead, when the first is due: one step, and one message, for those of a second. */
	for (w = LIST_FIRST(&r->watches); leave && w != NULL; w = next) {
		next = LIST_NEXT(w, link);
		if (w->dead) {
			feed_leave(w);
			destroy(w);
		}
	}
	if (late)
		feed_silent(r);
	else if (wait)
		feed_add(r);
}

void
watches_end(struct records *r)
{
	feed_drop(r);
	while (!LIST_EMPTY(&r->watches))
		destroy(LIST_FIRST(&r->watches));
}
