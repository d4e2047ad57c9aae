/*
 * watch.c - watches: each a stream of lines that goes on at another endpoint, or later at the same,
 * from where each of its ranges was.
 *
 *   RESTING -> OPENING  [begin]         at its due, when there is a token
 *   OPENING -> OPEN     [stream_hears]  the server knows of all its ranges
 *   OPENING -> RESTING  [stream_rest]   it failed, the server was silent, or the client took its turn
 *   OPEN    -> RESTING  [stream_rest]   to the next endpoint
 *   any     -> OVER     [stream_end]    there is no going on: the caller was told why
 *
 * W1  range.next of every range is the revision from which on nothing of it was told; 0: not known.
 * W2  While the caller is told something, the watch is not freed, only marked as dead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/retry.h"
#include "verdict.h"
#include "watch.h"

#define OPEN_MS      5000
#define LIVED_NS     (1000 * MS) /* a stream that was open for so long was no failure */
#define MOST_UNTAKEN (UINT64_C(32) << 20)

static void
close_stream(struct etcd_watch *w)
{
	free(w->post.url);
	http_drop(&w->post);
}

void
stream_destroy(struct etcd_watch *w)
{
	size_t i;

	LIST_REMOVE(w, link);
	close_stream(w);
	for (i = 0; i < w->ranges; i++) {
		free(w->range[i].key);
		free(w->range[i].end);
	}
	free(w);
}

void
etcd_unwatch(struct etcd_watch *w)
{
	if (w->telling)
		w->dead = true;
	else
		stream_destroy(w);
}

void
stream_tell(struct etcd_watch *w, enum etcd_watch_kind kind, const struct etcd_change *change,
	    const char *text)
{
	struct etcd_news news = { .kind = kind, .change = change, .text = text };
	bool outer = w->telling;

	if (w->dead)
		return;
	if (kind == WATCH_BEGUN) {
		news.revision = w->begun_at;
		w->begun_at = 0;
	}
	w->telling = true;
	w->hears(w->context, &news);
	w->telling = outer;
	if (w->dead && !outer)
		stream_destroy(w);
}

void
stream_rest(struct etcd_watch *w)
{
	struct etcd *e = w->etcd;
	uint64_t now = flki_boottime_ns();

	close_stream(w);
	if (w->state == OPEN && now - w->opened >= LIVED_NS)
		w->failures = 0;
	w->state = RESTING;
	w->waits = false;
	w->due = now + retry_pause(w->failures++);
	if (e->endpoints > 1)
		client_turn(e, w->turn);
	else
		client_failed(e);
}

void
stream_end(struct etcd_watch *w, enum etcd_watch_kind kind, const char *text)
{
	close_stream(w);
	w->state = OVER;
	w->waits = false;
	w->due = UINT64_MAX;
	stream_tell(w, kind, NULL, text);
}

void
stream_judged(struct etcd_watch *w, struct verdict *v)
{
	char text[CLIENT_TEXT];

	if ((v->license == BAD_TOKEN || v->result == ETCD_DENIED) && !w->denied &&
	    token_refused(w->etcd, w->token)) {
		w->denied = true;
		stream_rest(w);
		w->due = flki_boottime_ns();
		return;
	}
	token_hope(w->etcd, v);
	if (v->result == ETCD_AWAY || v->result == ETCD_OK) {
		stream_rest(w);
		return;
	}
	client_text(text, w->at, v->words);
	stream_end(w, WATCH_FAILED, text);
}

/* A watch has no end: whatever ended it is a failure. */
static void
ended(struct post *p, enum http_trouble trouble, const char *why)
{
	struct etcd_watch *w = p->owner;
	struct verdict v = { ETCD_AWAY, LICENSED, "" };

	if (trouble != HTTP_FINE) {
		client_trouble(w->etcd, w->at, trouble, why, &v);
	} else if (p->status != 200) {
		struct asked asked = { p->body };
		json_t *body = json_loadb(p->answer != NULL ? p->answer : "", p->length, 0, NULL);

		verdict_of(&v, w->etcd, p->status, body, &asked);
		json_decref(body);
	}
	w->telling = true;
	stream_judged(w, &v);
	w->telling = false;
	if (w->dead)
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
	p->body = request_make(w->range, w->ranges, &p->size);
	p->most = MOST_UNTAKEN;
	p->comes = stream_hears;
	p->ended = ended;
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
watches_told(struct etcd *e, enum etcd_result result, const char *text)
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
			stream_end(w, WATCH_FAILED, text);
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

/* Something may hang unseen at an endpoint that the client gave up: none stays behind. */
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
			close_stream(w);
			w->state = RESTING;
			begin(w);
		}
	}
}
