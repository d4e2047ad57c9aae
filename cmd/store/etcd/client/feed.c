/* SPDX-License-Identifier: ISC */
/*
 * feed.c - the one stream that all watches share: each range of a watch is one of etcd's watches
 * there, by an id that we choose.
 *
 * The stream goes to the endpoint of one turn, with one token: at another turn, or with another
 * token, another stream begins, and every watch begins there again, from where it was.
 *
 * The server answers the requests to create in their order; by this, and not by its id, we find the
 * range that a refusal is about.
 *
 * A message that makes no sense ends the stream, not the watches.
 *
 * That a range is not watched any more the server is told a second later: most clients have closed the
 * connection by then.
 */
#include <stdlib.h>
#include <string.h>

#include "etcd/proto/request.h"
#include "watch.h"

#define MOST_UNTAKEN (UINT64_C(32) << 20)
#define GONE_NS      SECOND

static bool
is_in(const struct records_watch *w)
{
	return w->state == OPENING || w->state == OPEN_WATCH;
}

/* The range of that id, and whose it is; NULL: it is not watched any more. */
static struct watched_range *
range_of(struct records *r, int64_t id, struct records_watch **watch, size_t *i)
{
	struct records_watch *w;

	if (id <= 0)
		return NULL;
	LIST_FOREACH(w, &r->watches, link)
		for (*i = 0; *i < w->ranges; ++*i)
			if (w->range[*i].id == id) {
				*watch = w;
				return &w->range[*i];
			}
	return NULL;
}

/* ---- what it says -------------------------------------------------------------------------- */

/*
 * One message has all changes of a revision that are in a range: W1.  The caller's function may begin
 * another stream, but it hears all of this message.
 */
static void
heard_changes(struct records_watch *w, struct watched_range *range, const struct news *news)
{
	int64_t next = range->next, last = 0;
	size_t i;

	for (i = 0; i < news->n; i++)
		if (news->change[i].kv.changed > last)
			last = news->change[i].kv.changed;
	if (last >= range->next)
		range->next = last + 1;
	w->in_callback = true;
	for (i = 0; i < news->n && !w->dead; i++)
		if (news->change[i].kv.changed >= next)
			watch_report(w, WATCH_CHANGE, &news->change[i], NULL);
	w->in_callback = false;
	if (w->dead)
		records_unwatch(w);
}

static void
created(struct records_watch *w, struct watched_range *range, size_t i, const struct news *news)
{
	if (range->next == 0) {
		range->next = news->revision + 1;
		if (range->next > w->begun_at)
			w->begun_at = range->next;
	}
	w->created |= 1u << i;
	if (w->state != OPENING || w->created != (1u << w->ranges) - 1)
		return;
	w->state = OPEN_WATCH;
	w->opened = flki_boottime_ns();
	w->due = UINT64_MAX;
	w->denied = false;
	watch_report(w, WATCH_BEGUN, NULL, NULL);
}

static void
canceled(struct records_watch *w, const struct news *news)
{
	struct verdict v;

	if (news->compacted > 0) {
		watch_end(w, WATCH_COMPACTED, NULL);
		return;
	}
	verdict_of_message(&v, w->records, UNAVAILABLE, news->reason, w->range[0].key);
	watch_judged(w, &v);
}

/* False: it makes no sense. */
static bool
heard(struct records *r, const struct news *news)
{
	struct feed *f = &r->feed;
	struct records_watch *w = NULL;
	struct watched_range *range;
	int64_t id = news->id;
	struct verdict v;
	size_t i;

	if (news->created && ++f->answered > f->asked)
		return false;
	if (news->created && id == 0) {
		verdict_of_stranger(&v, r, "it numbers watches itself");
		feed_judged(r, &v);
		return true;
	}
	if (news->created && id == -1 && news->canceled)
		id = f->answered;
	if (news->created ? id != f->answered : id > f->asked)
		return false;
	r->sound = true;
	client_well(r);
	range = range_of(r, id, &w, &i);
	if (range == NULL)
		return true;
	if (news->canceled)
		canceled(w, news);
	else if (news->created)
		created(w, range, i, news);
	else
		heard_changes(w, range, news);
	return true;
}

static void
comes(struct h2_stream *s)
{
	struct records *r = s->owner;
	uint64_t times = r->feed.times;
	struct verdict v;
	struct news news;
	uint8_t *bytes;
	size_t size;
	bool sense;

	/* A function that is called for a message may end the stream, and begin another. */
	while (r->feed.on && r->feed.times == times && (bytes = h2_take(s, &size)) != NULL) {
		sense = news_read(&news, bytes, size) && heard(r, &news);
		news_free(&news);
		free(bytes);
		if (!sense && r->feed.on && r->feed.times == times) {
			verdict_of_trouble(&v, r, r->feed.at, (struct trouble){ AWAY, NONSENSE });
			feed_judged(r, &v);
		}
	}
}

/* Watches have no end: whatever ended the stream is a failure. */
static void
ended(struct h2_stream *s)
{
	struct records *r = s->owner;
	struct verdict v;

	verdict_of_end(&v, r, r->feed.at, s, NULL);
	feed_judged(r, &v);
}

/* ---- its beginning and end ----------------------------------------------------------------- */

void
feed_drop(struct records *r)
{
	struct records_watch *w;
	size_t i;

	h2_drop(&r->feed.stream);
	r->feed.on = false;
	r->feed.n_gone = 0;
	LIST_FOREACH(w, &r->watches, link)
		for (i = 0; i < w->ranges; i++)
			w->range[i].id = 0;
}

void
feed_judged(struct records *r, const struct verdict *v)
{
	struct records_watch *w;

	feed_drop(r);
	LIST_FOREACH(w, &r->watches, link)
		w->called = is_in(w);
	while ((w = watch_next_called(r)) != NULL)
		if (is_in(w))
			watch_judged(w, v);
}

/* It must be of this turn and token; the watches of an earlier one begin again at once. */
static bool
begin(struct records *r)
{
	struct feed *f = &r->feed;
	struct records_watch *w;

	if (f->on && f->turn == r->turn && f->token == token_number(r))
		return true;
	feed_drop(r);
	LIST_FOREACH(w, &r->watches, link)
		if (is_in(w)) {
			w->state = RESTING;
			w->due = 0;
		}
	f->times++;
	f->turn = r->turn;
	f->token = token_number(r);
	f->at = client_endpoint(r);
	f->asked = f->answered = 0;
	f->stream = (struct h2_stream){ .path = "/etcdserverpb.Watch/Watch",
					.token = token_now(r),
					.open = true,
					.most = MOST_UNTAKEN,
					.comes = comes,
					.ended = ended,
					.owner = r };
	f->on = client_start(r, &f->stream);
	if (!f->on)
		h2_drop(&f->stream);
	return f->on;
}

bool
feed_add(struct records_watch *w)
{
	struct feed *f = &w->records->feed;
	size_t i;

	if (!begin(w->records))
		return false;
	for (i = 0; i < w->ranges; i++) {
		struct watched_range *of = &w->range[i];
		struct records_range range = { of->key, of->end, of->no_put, of->no_delete };

		of->id = ++f->asked;
		request_watch(&f->stream.out, of->id, &range, of->next);
	}
	h2_send(&f->stream);
	return !f->stream.out.failed;
}

void
feed_tidy(struct records *r)
{
	struct feed *f = &r->feed;
	size_t i;

	for (i = 0; i < f->n_gone; i++)
		request_unwatch(&f->stream.out, f->gone[i]);
	f->n_gone = 0;
	h2_send(&f->stream);
}

static void
leave(struct records *r, int64_t id)
{
	struct feed *f = &r->feed;

	if (f->n_gone == FEED_GONE)
		feed_tidy(r);
	if (f->n_gone == 0)
		f->gone_due = flki_boottime_ns() + GONE_NS;
	f->gone[f->n_gone++] = id;
}

void
feed_remove(struct records_watch *w)
{
	size_t i;

	for (i = 0; i < w->ranges; i++) {
		if (w->range[i].id != 0 && w->records->feed.on)
			leave(w->records, w->range[i].id);
		w->range[i].id = 0;
	}
}
