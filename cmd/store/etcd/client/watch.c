/* SPDX-License-Identifier: ISC */
/*
 * watch.c - watches: each a stream of lines that continues at another endpoint, or later at the same,
 * from where each of its ranges was.
 *
 *   RESTING -> OPENING  [begin]         at its due, when there is a token
 *   OPENING -> OPEN     [stream_hears]  the server knows of all its ranges
 *   OPENING -> RESTING  [stream_rest]   it failed, the server was silent, or the client took its turn
 *   OPEN    -> RESTING  [stream_rest]   to the next endpoint
 *   any     -> OVER     [stream_end]    it can't continue: the caller has the reason
 *
 * W1  range.next of every range is the first revision of which nothing was reported; 0: not known.
 * W2  While the caller's function runs, the watch is not freed, only marked as dead.
 */
#include <stdlib.h>
#include <string.h>

#include "verdict.h"
#include "watch.h"

#define OPEN_MS      5000
#define MOST_UNTAKEN (UINT64_C(32) << 20)

void
etcd_unwatch(struct etcd_watch *w)
{
	if (w->in_callback)
		w->dead = true;
	else
		stream_destroy(w);
}

/* ---- to begin ------------------------------------------------------------------------------ */

static void
begin(struct etcd_watch *w)
{
	struct etcd *e = w->etcd;
	struct post *p = &w->post;
	const char *why;

	w->turn = e->turn;
	if (!client_reaches(e) || token_barred(e, &why)) {
		stream_rest(w);
		return;
	}
	w->waits = !token_ready(e);
	if (w->waits) {
		w->due = UINT64_MAX;
		return;
	}
	memset(p, 0, sizeof(*p));
	w->created = 0;
	w->token = token_number(e);
	w->at = client_endpoint(e);
	p->token = token_now(e);
	p->body = request_make(w->range, w->ranges, &p->size);
	p->most = MOST_UNTAKEN;
	p->comes = stream_hears;
	p->ended = stream_ended;
	p->owner = w;
	if (p->body == NULL || !client_aim(e, p, "/v3/watch") || !http_post(e->http, p)) {
		stream_rest(w);
		return;
	}
	w->state = OPENING;
	w->due = flki_boottime_ns() + OPEN_MS * MS;
}

struct etcd_watch *
etcd_watch(struct etcd *e, const struct etcd_range *range, size_t ranges, int64_t from_revision,
	   etcd_hears *hears, void *context)
{
	struct etcd_watch *w;
	size_t i;

	if (ranges == 0 || ranges > ETCD_RANGES)
		return NULL;
	w = calloc(1, sizeof(*w));
	if (w == NULL)
		return NULL;
	w->etcd = e;
	w->hears = hears;
	w->context = context;
	w->ranges = ranges;
	LIST_INSERT_HEAD(&e->watches, w, link);
	for (i = 0; i < ranges; i++) {
		struct request_range *r = &w->range[i];

		r->no_put = range[i].no_put;
		r->no_delete = range[i].no_delete;
		r->next = from_revision;
		r->key = strdup(range[i].key);
		r->end = range[i].end == NULL ? NULL : strdup(range[i].end);
		if (r->key == NULL || (r->end == NULL) != (range[i].end == NULL)) {
			stream_destroy(w);
			return NULL;
		}
	}
	begin(w);
	return w;
}

static struct etcd_watch *
next_called(const struct etcd *e)
{
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
		if (w->called) {
			w->called = false;
			return w;
		}
	return NULL;
}

void
watches_resume(struct etcd *e, enum etcd_result result, const char *text)
{
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
		w->called = w->waits;
	while ((w = next_called(e)) != NULL) {
		if (result == ETCD_OK)
			begin(w);
		else if (result == ETCD_AWAY)
			stream_rest(w);
		else
			stream_end(w, ETCD_FAILED, text);
	}
}

uint64_t
watches_due(const struct etcd *e)
{
	uint64_t due = UINT64_MAX;
	const struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
		if (w->due < due)
			due = w->due;
	return due;
}

/* A stream may hang unnoticed at an endpoint that the client gave up: leave none behind. */
void
watches_step(struct etcd *e)
{
	uint64_t now = flki_boottime_ns();
	struct etcd_watch *w;

	LIST_FOREACH(w, &e->watches, link)
		w->called = w->due <= now ||
			    ((w->state == OPENING || w->state == OPEN) && w->turn != e->turn);
	while ((w = next_called(e)) != NULL) {
		if (w->state == RESTING) {
			begin(w);
		} else if (w->turn == e->turn) {
			stream_rest(w); /* the server was silent */
		} else {
			stream_close(w);
			w->state = RESTING;
			begin(w);
		}
	}
}
