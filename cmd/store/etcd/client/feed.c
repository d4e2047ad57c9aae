/* SPDX-License-Identifier: ISC */
/*
 * feed.c - the one stream that all watches share: each range of a watch is one of etcd's watches
 * there, by an id that we choose.
 *
 * The stream goes to the endpoint of one turn, with one token: at another turn, or for a watch that
 * needs another token, another stream begins, and every watch begins there again, from where it was.
 * So it does after a failure of the stream, and a pause.  One watch that may succeed later pauses alone.
 *
 * The server answers the requests to create in their order; by this, and not by its id, we find the
 * range that a refusal is about.
 *
 * A message that makes no sense ends the stream, not the watches.
 */
#include <stdlib.h>
#include <string.h>

#include "etcd/proto/messages.h"
#include "records/retry.h"
#include "watch.h"

#define MOST_UNTAKEN (UINT64_C(32) << 20)
#define LIVED_NS     (1000 * MS) /* a stream that had a watch for this long was no failure */

bool
feed_has(const struct records_watch *w)
{
	return w->range[0].id != 0;
}

/* ---- its end ------------------------------------------------------------------------------- */

static void
forget(struct records_watch *w)
{
	size_t i;

	w->missing = 0;
	w->due = 0;
	for (i = 0; i < w->ranges; i++)
		w->range[i].id = 0;
}

void
feed_drop(struct records *r)
{
	struct records_watch *w;

	h2_drop(&r->feed.x.stream);
	r->feed.on = false;
	r->feed.opened = 0;
	LIST_FOREACH(w, &r->watches, link)
		forget(w);
}

void
feed_leave(struct records_watch *w)
{
	struct feed *f = &w->records->feed;
	size_t i;

	if (!feed_has(w))
		return;
	for (i = 0; i < w->ranges; i++)
		request_unwatch(&f->x.stream.out, w->range[i].id);
	h2_send(&f->x.stream);
}

/* Adds no watches for a while.  The client's turn decides which endpoint is next. */
static void
rest(struct records *r)
{
	struct feed *f = &r->feed;
	uint64_t now = flki_boottime_ns();

	if (f->opened != 0 && now - f->opened >= LIVED_NS) {
		f->failures = 0;
		f->opened = 0;
	}
	f->due = now + retry_pause(f->failures++);
	if (r->endpoints > 1)
		client_turn(r, f->on ? f->x.turn : r->turn);
	else
		client_failed(r);
}

/* Of one watch, or of all that are in the feed (NULL). */
static void
judged(struct records *r, const struct records_watch *only, const struct verdict *verdict)
{
	struct verdict v = *verdict;
	bool unlicensed = v.license == BAD_TOKEN || v.result == RECORDS_DENIED, failed = false;
	char text[RECORDS_TEXT];
	struct records_watch *w;

	token_hope(r, &v);
	client_text(text, r->feed.x.at, v.words);
	LIST_FOREACH(w, &r->watches, link) {
		if (w->over || !feed_has(w) || (only != NULL && w != only))
			continue;
		if (unlicensed && !w->denied && token_refused(r, r->feed.x.token)) {
			w->denied = true;
			forget(w);
		} else if (v.result != RECORDS_AWAY && v.result != RECORDS_OK) {
			watch_end(w, WATCH_FAILED, text);
		} else if (only != NULL) {
			feed_leave(w);
			forget(w);
			w->due = flki_boottime_ns() + retry_spread(SECOND);
		} else {
			failed = true;
		}
	}
	if (failed)
		rest(r);
	if (only == NULL)
		feed_drop(r);
}

void
feed_silent(struct records *r)
{
	struct verdict v;

	client_turn(r, r->feed.x.turn); /* the connection may hang, and is not used again */
	verdict_of_trouble(&v, r, r->feed.x.at, (struct trouble){ AWAY, SILENT });
	judged(r, NULL, &v);
}

/* ---- what it says -------------------------------------------------------------------------- */

/* The range of that id, and whose it is; NULL: it is not watched any more. */
static struct watched_range *
range_of(struct records *r, int64_t id, struct records_watch **watch)
{
	struct records_watch *w;
	size_t i;

	LIST_FOREACH(w, &r->watches, link)
		for (i = 0; i < w->ranges; i++)
			if (id > 0 && w->range[i].id == id) {
				*watch = w;
				return &w->range[i];
			}
	return NULL;
}

/* One message has all changes of a revision that are in a range: W1. */
static void
changed(struct records_watch *w, struct watched_range *range, const struct answer *news)
{
	int64_t next = range->next, last = 0;
	size_t i;

	for (i = 0; i < news->changes; i++)
		if (news->change[i].kv.changed > last)
			last = news->change[i].kv.changed;
	if (last >= range->next)
		range->next = last + 1;
	for (i = 0; i < news->changes; i++)
		if (news->change[i].kv.changed >= next)
			watch_report(w, WATCH_CHANGE, &news->change[i], NULL);
}

static void
created(struct records_watch *w, struct watched_range *range, const struct answer *news)
{
	if (range->next == 0) {
		range->next = news->revision + 1;
		if (range->next > w->begun_at)
			w->begun_at = range->next;
	}
	if (--w->missing > 0)
		return;
	if (w->records->feed.opened == 0)
		w->records->feed.opened = flki_boottime_ns();
	w->denied = false;
	watch_report(w, WATCH_BEGUN, NULL, NULL);
}

static void
canceled(struct records_watch *w, const struct answer *news)
{
	struct verdict v;

	if (news->compacted > 0) {
		watch_end(w, WATCH_COMPACTED, NULL);
		return;
	}
	verdict_of_message(&v, w->records, true, news->reason != NULL ? news->reason : "",
			   w->range[0].of.key);
	judged(w->records, w, &v);
}

/* False: it makes no sense. */
static bool
heard(struct records *r, const struct answer *news)
{
	struct feed *f = &r->feed;
	struct records_watch *w = NULL;
	struct watched_range *range;
	int64_t id = news->id;
	struct verdict v;

	if (news->created && ++f->answered > f->asked)
		return false;
	if (news->created && id == 0) {
		verdict_of_stranger(&v, r, "it numbers watches itself");
		judged(r, NULL, &v);
		return true;
	}
	if (news->created && id == -1 && news->canceled)
		id = f->answered;
	if (news->created ? id != f->answered : id > f->asked)
		return false;
	r->sound = true;
	client_well(r);
	f->heard_ns = flki_boottime_ns();
	range = range_of(r, id, &w);
	if (range == NULL || w->over)
		return true;
	if (news->canceled)
		canceled(w, news);
	else if (news->created)
		created(w, range, news);
	else
		changed(w, range, news);
	return true;
}

/* Watches have no end: whatever ended the stream is a failure. */
static void
stream_heard(struct h2_stream *s)
{
	struct records *r = s->owner;
	struct verdict v;
	struct answer news = { .n = 0 };
	uint8_t *bytes;
	size_t size;
	bool sense;

	/* What is heard may end the stream. */
	while (r->feed.on && (bytes = h2_take(s, &size)) != NULL) {
		sense = answer_read(&news, ANSWER_WATCH, bytes, size) && heard(r, &news);
		answer_free(&news);
		if (!sense && r->feed.on) {
			verdict_of_trouble(&v, r, r->feed.x.at, (struct trouble){ AWAY, NONSENSE });
			judged(r, NULL, &v);
		}
	}
	if (r->feed.on && s->over) {
		verdict_of_end(&v, r, &r->feed.x, NULL);
		judged(r, NULL, &v);
	}
}

/* ---- its watches --------------------------------------------------------------------------- */

static void
begin(struct records *r)
{
	struct feed *f = &r->feed;

	f->asked = f->answered = 0;
	f->heard_ns = 0;
	f->x.stream = (struct h2_stream){ .path = "/etcdserverpb.Watch/Watch",
					  .open = true,
					  .most = MOST_UNTAKEN,
					  .heard = stream_heard,
					  .owner = r };
	client_start(r, &f->x);
	f->on = true;
}

/* Asks for all its ranges. */
static void
add(struct records_watch *w)
{
	struct feed *f = &w->records->feed;
	size_t i;

	for (i = 0; i < w->ranges; i++) {
		struct watched_range *of = &w->range[i];

		of->id = ++f->asked;
		request_watch(&f->x.stream.out, of->id, &of->of, of->next);
	}
	w->missing = w->ranges;
	w->due = flki_boottime_ns() + FEED_OPEN_NS;
}

static void
end_waiting(struct records *r, const char *text)
{
	struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (!w->over && !feed_has(w))
			watch_end(w, WATCH_FAILED, text);
}

void
feed_add(struct records *r)
{
	struct feed *f = &r->feed;
	struct records_watch *w;
	struct verdict v;

	if (!client_ready(r, &v)) {
		if (v.result == RECORDS_AWAY)
			rest(r);
		else if (v.result != RECORDS_OK)
			end_waiting(r, v.words);
		return;
	}
	if (f->on && f->x.token != r->token.number)
		feed_drop(r);
	if (!f->on)
		begin(r);
	LIST_FOREACH(w, &r->watches, link)
		if (!w->over && !feed_has(w) && w->due <= flki_boottime_ns())
			add(w);
	h2_send(&f->x.stream);
}

void
feed_join(struct records_watch *w)
{
	struct records *r = w->records;
	struct feed *f = &r->feed;

	if (!f->on || f->x.stream.over || f->x.turn != r->turn || f->x.token != r->token.number ||
	    f->due > flki_boottime_ns())
		return;
	add(w);
	h2_send(&f->x.stream);
}
