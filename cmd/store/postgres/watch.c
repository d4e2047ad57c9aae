/* SPDX-License-Identifier: ISC */
/*
 * watch.c - watches.  A server process knows the ranges of its client's watches, and is notified when one of
 * them has changed.  The notification has the changes, or the client asks for all news since it last did
 * so.  It asks every three seconds all the same, and ends the leases that are over by that.
 *
 *   called -> ASKED  [ask]         when there is a connection
 *   ASKED  -> BEGUN  [watch_answered]
 *   ASKED, BEGUN -> called  [watches_down]
 *   any    -> ENDED  [end]              it can't continue: the caller has the reason
 *   any    -> DEAD   [records_unwatch]  the server is told a second later, as most clients have closed the
 *                                       connection by then
 *
 * W1  next is the first revision of which nothing was reported; 0: it is to begin now.
 * W2  Notifications come in the order of the revisions.  But news that were asked for may be about later ones
 *     than one that is still to come: so while the client is about to ask, one is but a reason to ask again.
 * W3  What they reported is counted, and the news of each tick tell whether one was missing.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "now.h"
#include "records/range.h"
#include "records/retry.h"

#define CALL_MS 5000
#define TICK_NS (3 * SECOND)
#define GONE_NS SECOND

#define PUTS    1 /* as functions.sql has them */
#define DELETES 2
#define DELETED 2 /* in the column OP */

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records *records;
	enum { CALLED, ASKED, BEGUN, ENDED, DEAD } state;
	bool known;                /* to the server */
	struct records_call *call; /* ASKED */
	int64_t number, next;
	int64_t since; /* the revision from which on: */
	size_t told;   /* so many changes were reported by notifications */
	uint64_t due;  /* DEAD: when to tell the server */
	records_hears *hears;
	void *context;
	size_t ranges;
	struct records_range range[];
};

/* ---- what is reported ---- */

static void
report(struct records_watch *w, const struct records_news *news)
{
	if (w->state != DEAD)
		w->hears(w->context, news);
}

static void
end(struct records_watch *w, enum records_news_kind kind, const char *text)
{
	w->state = ENDED;
	report(w, &(struct records_news){ .kind = kind, .text = text });
}

static bool
is_about(const struct records_watch *w, const struct records_change *c)
{
	return w->state == BEGUN && range_has(w->range, w->ranges, c->kv.key, c->deleted);
}

/* Reports all changes of an answer that the watch has not had yet. */
static void
report_changes(struct records_watch *w, const PGresult *result)
{
	int last = PQntuples(result) - 1, row;
	int64_t revision = answer_number(result, last, REVISION), next = w->next;
	struct records_change change;
	size_t told = 0;

	if (revision >= w->next)
		w->next = revision + 1;
	for (row = 0; row < last; row++) {
		answer_kv(&change.kv, result, row);
		change.deleted = answer_number(result, row, OP) == DELETED;
		if (!is_about(w, &change))
			continue;
		if (change.kv.changed >= next)
			report(w,
			       &(struct records_news){ .kind = WATCH_CHANGE, .change = &change });
		else if (change.kv.changed >= w->since)
			told++;
	}
	if (w->state == BEGUN && told != w->told)
		end(w, WATCH_COMPACTED, NULL);
	w->since = w->next;
	w->told = 0;
}

/* ---- a watch begins ---- */

static void
watch_answered(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	struct records_watch *w = c->context;
	struct records_news begun = { .kind = WATCH_BEGUN };

	w->call = NULL;
	if (result == NULL) {
		/* It asks again, over another connection or after a pause. */
		w->state = CALLED;
		w->due = flki_boottime_ns() + retry_spread(SECOND);
		if (v->result != RECORDS_AWAY)
			end(w, WATCH_FAILED, v->words);
	} else if (answer_number(result, PQntuples(result) - 1, FLAG) != 0) {
		end(w, WATCH_COMPACTED, NULL);
	} else {
		w->state = BEGUN;
		if (w->next == 0)
			w->next = begun.revision =
			    answer_number(result, PQntuples(result) - 1, REVISION) + 1;
		report(w, &begun);
		report_changes(w, result);
	}
}

static void
ask(struct records_watch *w)
{
	struct args a = args_of(w->number);
	size_t i;

	args_number(&a, w->next);
	args_array(&a, ARGS_BYTEA, w->ranges);
	for (i = 0; i < w->ranges; i++)
		args_element(&a, w->range[i].key, strlen(w->range[i].key));
	args_array(&a, ARGS_BYTEA, w->ranges);
	for (i = 0; i < w->ranges; i++)
		args_element_end(&a, w->range[i].key, w->range[i].end);
	args_array(&a, ARGS_INT4, w->ranges);
	for (i = 0; i < w->ranges; i++)
		args_element_number(&a, ARGS_INT4, (w->range[i].no_put ? 0 : PUTS) | DELETES);
	w->call = call_begin(w->records, "watch", a, CALL_MS, watch_answered, w);
	w->due = flki_boottime_ns() + TICK_NS; /* for want of memory: again then */
	if (w->call != NULL) {
		w->state = ASKED;
		w->known = true;
	}
}

static void
destroy(struct records_watch *w)
{
	if (w->call != NULL)
		records_cancel(w->call);
	LIST_REMOVE(w, link);
	ranges_free(w->range, w->ranges);
	free(w);
}

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w;

	if (ranges == 0 || ranges > RECORDS_RANGES ||
	    (w = calloc(1, sizeof(*w) + ranges * sizeof(w->range[0]))) == NULL)
		return NULL;
	if (!ranges_copy(w->range, range, ranges)) {
		free(w);
		return NULL;
	}
	w->records = r;
	w->number = (int64_t)++r->numbers;
	w->next = from;
	w->ranges = ranges;
	w->hears = hears;
	w->context = context;
	LIST_INSERT_HEAD(&r->watches, w, link);
	if (r->state == UP)
		ask(w);
	return w;
}

void
records_unwatch(struct records_watch *w)
{
	if (w->call != NULL)
		records_cancel(w->call);
	w->call = NULL;
	w->state = DEAD;
	w->due = flki_boottime_ns() + GONE_NS;
}

/* ---- news ---- */

static void
ignored(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	(void)c;
	(void)result;
	(void)v;
}

static void
news_answered(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	struct records *r = c->context;
	uint64_t wait = TICK_NS;
	struct records_watch *w;
	int64_t ends;
	int last;

	(void)v;
	r->asking = false;
	r->tick_ns = flki_boottime_ns() + TICK_NS;
	if (result == NULL)
		return;
	last = PQntuples(result) - 1;
	/* It looks again when the next lease is over; not all clients at once. */
	ends = answer_number(result, last, SAYS);
	if (!PQgetisnull(result, last, SAYS) && ends < (int64_t)(TICK_NS / MS))
		wait = (ends > 0 ? (uint64_t)ends * MS : 0) + retry_spread(TICK_NS / 10);
	r->tick_ns = flki_boottime_ns() + wait;
	r->seen = answer_number(result, last, REVISION);
	LIST_FOREACH(w, &r->watches, link) {
		if (w->state != BEGUN)
			continue;
		if (answer_number(result, last, FLAG) != 0)
			end(w, WATCH_COMPACTED, NULL);
		else
			report_changes(w, result);
	}
}

static void
ask_for_news(struct records *r)
{
	r->asking = call_begin(r, "news", args_of(r->seen + 1), CALL_MS, news_answered, r) != NULL;
	r->tick_ns = r->asking ? UINT64_MAX : flki_boottime_ns() + TICK_NS;
	r->woken = false;
}

/* Reports what the watch has not had yet of some changes, which are in order. */
static void
report_told(struct records_watch *w, const struct records_change *change, size_t n)
{
	int64_t next = w->next;
	size_t i;

	for (i = 0; i < n; i++) {
		if (change[i].kv.changed < next || !is_about(w, &change[i]))
			continue;
		w->next = change[i].kv.changed + 1;
		w->told++;
		report(w, &(struct records_news){ .kind = WATCH_CHANGE, .change = &change[i] });
	}
}

void
watches_notified(struct records *r, char *lines)
{
	struct records_change change[CHANGES];
	size_t n = r->woken || r->asking ? 0 : changes_read(change, lines);
	struct records_watch *w;

	if (n == 0)
		r->woken = true;
	LIST_FOREACH(w, &r->watches, link)
		report_told(w, change, n);
}

void
watches_up(struct records *r)
{
	r->tick_ns = flki_boottime_ns() + retry_spread(TICK_NS);
	r->woken = r->asking = false;
}

void
watches_down(struct records *r)
{
	struct records_watch *w;

	r->asking = false;
	r->tick_ns = UINT64_MAX;
	LIST_FOREACH(w, &r->watches, link) {
		w->known = false;
		if (w->state == BEGUN) {
			w->state = CALLED;
			w->due = 0;
		}
	}
}

void
watches_woken(struct records *r)
{
	r->woken = true;
}

/* ---- time ---- */

bool
watches_wait(const struct records *r)
{
	const struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (w->state == CALLED)
			return true;
	return false;
}

static bool
any_has_begun(const struct records *r)
{
	const struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (w->state == BEGUN)
			return true;
	return false;
}

static uint64_t
news_due(const struct records *r)
{
	if (r->state != UP || r->asking)
		return UINT64_MAX;
	return r->woken && any_has_begun(r) ? 0 : r->tick_ns;
}

uint64_t
watches_due(const struct records *r)
{
	uint64_t first = news_due(r);
	const struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (w->state == DEAD || (w->state == CALLED && r->state == UP))
			first = earlier(first, w->due);
	return first;
}

static void
leave(struct records_watch *w)
{
	if (w->known && w->records->state == UP)
		call_begin(w->records, "unwatch", args_of(w->number), CALL_MS, ignored, NULL);
	destroy(w);
}

void
watches_step(struct records *r)
{
	uint64_t now = flki_boottime_ns();
	struct records_watch *w, *next;

	for (w = LIST_FIRST(&r->watches); w != NULL; w = next) {
		next = LIST_NEXT(w, link);
		if (w->due > now)
			continue;
		if (w->state == DEAD)
			leave(w);
		else if (w->state == CALLED && r->state == UP)
			ask(w);
	}
	if (news_due(r) <= now)
		ask_for_news(r);
}

void
watches_end(struct records *r)
{
	while (!LIST_EMPTY(&r->watches))
		destroy(LIST_FIRST(&r->watches));
}
