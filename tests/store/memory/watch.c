/* SPDX-License-Identifier: ISC */
/*
 * watch.c - the watches of a world.  The server has each range by itself, and reports its changes in
 * their order; after an interruption the client asks for each range from where it was.
 */
#include <stdlib.h>
#include <string.h>

#include "records/range.h"
#include "wire.h"

/* ---- the server ---- */

/* Ranges of one key, by the key; and all others. */
#define BUCKETS 4096
static LIST_HEAD(, watched) narrow[BUCKETS], wide;

static unsigned
bucket(const char *key)
{
	unsigned hash = 0;

	for (; *key != '\0'; key++)
		hash = hash * 31 + (unsigned char)*key;
	return hash % BUCKETS;
}

static void
unregister(struct watched *r)
{
	if (r->registered)
		LIST_REMOVE(r, link);
	r->registered = false;
}

static bool
concerns(const struct watched *r, const struct memory_record *change)
{
	return range_has(&r->of, 1, change->kv.key, change->deleted);
}

static struct message *
report_new(struct watched *r, enum records_news_kind news, int64_t revision)
{
	struct message *m = message_new(REPORTS, r->watch->client);

	m->range = r;
	m->news = news;
	m->revision = revision;
	return m;
}

static uint64_t
watch_takes(const struct watched *r, enum leg leg)
{
	uint64_t takes = message_takes(r->watch->client, leg);

	return true_ns + (takes == NEVER ? WATCH_LATE_NS : takes);
}

/* Not before what was sent before it, and together with what else is of its revision. */
static void
report_send(struct watched *r, struct message *m, int64_t revision)
{
	uint64_t at = watch_takes(r, TO_CLIENT);

	if (at < r->last_ns || revision == r->sent)
		at = r->last_ns;
	r->sent = revision;
	r->last_ns = at;
	message_send(m, at);
}

static void
report_change(struct watched *r, struct memory_record *change)
{
	unsigned times = 1;
	struct message *m;

	if (!concerns(r, change))
		return;
	if (world.rules->reports != NULL)
		times = world.rules->reports(world.context, change);
	for (; times > 0; times--) {
		m = report_new(r, WATCH_CHANGE, 0);
		m->change = memory_use(change);
		report_send(r, m, change->kv.changed);
	}
}

void
watches_report(struct memory_record *change)
{
	struct watched *r;

	LIST_FOREACH(r, &narrow[bucket(change->kv.key)], link)
		report_change(r, change);
	LIST_FOREACH(r, &wide, link)
		report_change(r, change);
}

void
watches_serve(struct message *m)
{
	struct watched *r = m->range;
	int64_t from = m->revision;
	struct memory_record *change;
	size_t i;

	message_free(m);
	r->from_now = from == 0;
	if (from == 0)
		from = memory_revision(world.memory) + 1;
	if (from <= memory_compacted(world.memory)) {
		report_send(r, report_new(r, WATCH_COMPACTED, from), 0);
		return;
	}
	unregister(r);
	if (r->of.end == NULL)
		LIST_INSERT_HEAD(&narrow[bucket(r->of.key)], r, link);
	else
		LIST_INSERT_HEAD(&wide, r, link);
	r->registered = true;
	report_send(r, report_new(r, WATCH_BEGUN, from), 0);
	for (i = memory_since(world.memory, from);
	     (change = memory_change(world.memory, i)) != NULL; i++)
		report_change(r, change);
}

/* ---- the client ---- */

void
watch_joins(struct records_watch *w)
{
	size_t i;

	for (i = 0; i < w->ranges && !w->over; i++) {
		struct message *m = message_new(ASKS_WATCH, w->client);

		m->range = &w->range[i];
		m->revision = w->range[i].next;
		message_send(m, watch_takes(&w->range[i], TO_SERVER));
	}
}

void
watch_is_cut(struct records_watch *w)
{
	size_t i;

	for (i = 0; i < w->ranges; i++) {
		unregister(&w->range[i]);
		w->range[i].begun = false;
		w->range[i].last_ns = 0;
		w->range[i].sent = -1;
	}
}

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w = memory_got(calloc(1, sizeof(*w)));
	size_t i;

	w->client = r;
	w->hears = hears;
	w->context = context;
	w->ranges = ranges < RECORDS_RANGES ? ranges : RECORDS_RANGES;
	for (i = 0; i < w->ranges; i++) {
		w->range[i] = (struct watched){ .watch = w, .next = from, .sent = -1 };
		if (!ranges_copy(&w->range[i].of, &range[i], 1))
			memory_got(NULL);
	}
	LIST_INSERT_HEAD(&r->watches, w, link);
	if (!r->cut)
		watch_joins(w);
	return w;
}

/* Of its messages, one that is about that watch. */
static struct message *
next_of(const struct records_watch *w)
{
	struct message *m;

	LIST_FOREACH(m, &w->client->messages, of_client)
		if (m->range != NULL && m->range->watch == w)
			return m;
	return NULL;
}

/* Nothing more is reported. */
static void
end(struct records_watch *w)
{
	struct message *m;

	watch_is_cut(w);
	while ((m = next_of(w)) != NULL)
		message_free(m);
	w->over = true;
}

void
records_unwatch(struct records_watch *w)
{
	size_t i;

	if (w->in_callback) {
		w->dead = true;
		return;
	}
	end(w);
	for (i = 0; i < w->ranges; i++)
		ranges_free(&w->range[i].of, 1);
	LIST_REMOVE(w, link);
	free(w);
}

/* Whether its last range has begun by this. */
static bool
begins(struct records_watch *w, struct watched *r, int64_t revision)
{
	size_t i;

	if (r->from_now && revision > w->begun_at)
		w->begun_at = revision;
	r->begun = true;
	for (i = 0; i < w->ranges && w->range[i].begun; i++)
		;
	return i == w->ranges;
}

static void
hears(struct records_watch *w, const struct records_news *news)
{
	w->in_callback = true;
	w->hears(w->context, news);
	w->in_callback = false;
	if (w->dead)
		records_unwatch(w);
}

void
watch_hears(struct message *m)
{
	struct records_watch *w = m->range->watch;
	struct memory_record *change = m->change;
	struct records_news news = { .kind = m->news };
	struct records_change is;

	m->change = NULL;
	if (change != NULL) {
		is = (struct records_change){ .deleted = change->deleted, .kv = change->kv };
		news.change = &is;
	} else if (m->news == WATCH_COMPACTED) {
		end(w);
		hears(w, &news);
		return;
	} else if (begins(w, m->range, m->revision)) {
		news.revision = w->begun_at;
	} else {
		message_free(m);
		return;
	}
	message_free(m);
	hears(w, &news);
	memory_drop(change);
}
