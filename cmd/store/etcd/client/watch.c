/* SPDX-License-Identifier: ISC */
/*
 * watch.c - watches, each of which continues at another endpoint, or later at the same, from where
 * each of its ranges was.
 *
 *   RESTING -> OPENING    [begin]       at its due, when there is a token
 *   OPENING -> OPEN_WATCH [created]     the server knows of all its ranges
 *   OPENING -> RESTING    [watch_rest]  it failed, the server was silent, or the client took its turn
 *   OPEN_WATCH -> RESTING [watch_rest]  to the next endpoint
 *   any     -> OVER       [watch_end]   it can't continue: the caller has the reason
 *
 * W1  range.next of every range is the first revision of which nothing was reported; 0: not known.
 * W2  While the caller's function runs, the watch is not freed, only marked as dead.
 */
#include "watch.h"

#include <stdlib.h>
#include <string.h>

#include "records/retry.h"

#define OPEN_NS  (5000 * MS)
#define LIVED_NS (1000 * MS) /* a watch that was open for this long was no failure */

static void
destroy(struct records_watch *w)
{
	size_t i;

	feed_remove(w);
	LIST_REMOVE(w, link);
	for (i = 0; i < w->ranges; i++) {
		free(w->range[i].key);
		free(w->range[i].end);
	}
	free(w);
}

void
records_unwatch(struct records_watch *w)
{
	if (w->in_callback)
		w->dead = true;
	else
		destroy(w);
}

/* ---- to end -------------------------------------------------------------------------------- */

void
watch_report(struct records_watch *w, enum records_news_kind kind,
	     const struct records_change *change, const char *text)
{
	struct records_news news = { .kind = kind, .change = change, .text = text };
	bool outer = w->in_callback;

	if (w->dead)
		return;
	if (kind == WATCH_BEGUN) {
		news.revision = w->begun_at;
		w->begun_at = 0;
	}
	w->in_callback = true;
	w->hears(w->context, &news);
	w->in_callback = outer;
	if (w->dead && !outer)
		destroy(w);
}

void
watch_rest(struct records_watch *w)
{
	struct records *r = w->records;
	uint64_t now = flki_boottime_ns();

	feed_remove(w);
	if (w->state == OPEN_WATCH && now - w->opened >= LIVED_NS)
		w->failures = 0;
	w->state = RESTING;
	w->due = now + retry_pause(w->failures++);
	if (r->endpoints > 1)
		client_turn(r, w->turn);
	else
		client_failed(r);
}

void
watch_end(struct records_watch *w, enum records_news_kind kind, const char *text)
{
	feed_remove(w);
	w->state = OVER;
	w->due = UINT64_MAX;
	watch_report(w, kind, NULL, text);
}

void
watch_judged(struct records_watch *w, const struct verdict *verdict)
{
	struct records *r = w->records;
	struct verdict v = *verdict;
	char text[RECORDS_TEXT];

	if ((v.license == BAD_TOKEN || v.result == RECORDS_DENIED) && !w->denied &&
	    token_refused(r, r->feed.token)) {
		w->denied = true;
		watch_rest(w);
		w->due = flki_boottime_ns();
		return;
	}
	token_hope(r, &v);
	if (v.result == RECORDS_AWAY || v.result == RECORDS_OK) {
		watch_rest(w);
		return;
	}
	client_text(text, r->feed.at, v.words);
	watch_end(w, WATCH_FAILED, text);
}

/* ---- to begin ------------------------------------------------------------------------------ */

static void
begin(struct records_watch *w)
{
	struct records *r = w->records;
	const char *why;

	w->turn = r->turn;
	if (!client_reaches(r) || token_barred(r, &why)) {
		watch_rest(w);
		return;
	}
	if (!token_ready(r)) {
		w->due = UINT64_MAX; /* watches_resume() goes on */
		return;
	}
	w->created = 0;
	if (!feed_add(w)) {
		watch_rest(w);
		return;
	}
	w->state = OPENING;
	w->due = flki_boottime_ns() + OPEN_NS;
}

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w;
	size_t i;

	if (ranges == 0 || ranges > RECORDS_RANGES)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->records = r;
	w->hears = hears;
	w->context = context;
	w->ranges = ranges;
	LIST_INSERT_HEAD(&r->watches, w, link);
	for (i = 0; i < ranges; i++) {
		struct watched_range *to = &w->range[i];

		to->no_put = range[i].no_put;
		to->no_delete = range[i].no_delete;
		to->next = from;
		to->key = strdup(range[i].key);
		to->end = range[i].end == NULL ? NULL : strdup(range[i].end);
		if (to->key == NULL || (to->end == NULL) != (range[i].end == NULL)) {
			destroy(w);
			return NULL;
		}
	}
	begin(w);
	return w;
}

struct records_watch *
watch_next_called(const struct records *r)
{
	struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (w->called) {
			w->called = false;
			return w;
		}
	return NULL;
}

void
watches_resume(struct records *r, enum records_result result, const char *text)
{
	struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		w->called = w->state == RESTING && w->due == UINT64_MAX;
	while ((w = watch_next_called(r)) != NULL) {
		if (result == RECORDS_OK)
			begin(w);
		else if (result == RECORDS_AWAY)
			watch_rest(w);
		else
			watch_end(w, WATCH_FAILED, text);
	}
}

uint64_t
watches_due(const struct records *r)
{
	uint64_t due = r->feed.n_gone > 0 ? r->feed.gone_due : UINT64_MAX;
	const struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (w->due < due)
			due = w->due;
	return due;
}

/* The feed may hang unnoticed at an endpoint that the client gave up: leave none behind. */
void
watches_step(struct records *r)
{
	uint64_t now = flki_boottime_ns();
	struct records_watch *w;

	if (r->feed.n_gone > 0 && r->feed.gone_due <= now)
		feed_tidy(r);
	LIST_FOREACH(w, &r->watches, link)
		w->called = w->due <= now ||
			    ((w->state == OPENING || w->state == OPEN_WATCH) && w->turn != r->turn);
	while ((w = watch_next_called(r)) != NULL) {
		if (w->state != RESTING && w->turn == r->turn) {
			struct verdict v;

			client_turn(r,
				    w->turn); /* the connection may hang, and is not used again */
			verdict_of_trouble(&v, r, r->feed.at, (struct trouble){ AWAY, SILENT });
			feed_judged(r, &v);
			return;
		}
		feed_remove(w);
		w->state = RESTING;
		begin(w);
	}
}
