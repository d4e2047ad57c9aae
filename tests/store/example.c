/* SPDX-License-Identifier: ISC */
/*
 * example.c - the smallest engine: records.h over a service that is a library, for those who write
 * another one.  See doc/store-engines.md, and tests/store/records/ for the cases that it must pass.
 *
 * The service is the store in memory, which answers at once and is never away.  So a call needs no time
 * limit here, and no connection is lost.  What is left is what every engine has: an answer waits for the
 * step, what a step calls may begin and end any call and watch, and a watch goes on from its revision.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>

#include "../../lib/clock.h"
#include "example.h"
#include "records/range.h"

struct records_call {
	TAILQ_ENTRY(records_call) link;
	struct records *records;
	struct memory_answer *answer;
	records_done *done;
	void *context;
};

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records_range range[RECORDS_RANGES];
	size_t ranges;
	int64_t next; /* all before that revision was told, */
	size_t told;  /* ... and so many changes of it, or they were of no concern */
	bool from_now, begun, over;
	records_hears *hears;
	void *context;
};

struct records {
	int fd; /* nothing comes but what this program itself does */
	TAILQ_HEAD(call_queue, records_call) calls;
	LIST_HEAD(, records_watch) watches;
	int64_t seen; /* the revision of the last step; 0: there is something to tell since */
};

struct memory *example_service;

/* ---- calls: done when they are sent, told in the next step ---- */

static struct records_call *
call(struct records *r, struct memory_answer *answer, records_done *done, void *context)
{
	struct records_call *c = memory_got(calloc(1, sizeof(*c)));

	*c = (struct records_call){
		.records = r, .answer = answer, .done = done, .context = context
	};
	c->answer->a.sent_ns = flki_boottime_ns();
	TAILQ_INSERT_TAIL(&r->calls, c, link);
	return c;
}

struct records_call *
records_txn(struct records *r, struct txn *txn, unsigned timeout_ms, records_done *done,
	    void *context)
{
	struct records_call *c = NULL;

	(void)timeout_ms;
	if (txn != NULL && !txn->failed)
		c = call(r, memory_txn(example_service, txn, flki_boottime_ns()), done, context);
	txn_free(txn);
	return c;
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	(void)timeout_ms;
	return call(r, memory_lease(example_service, id, ttl_s, flki_boottime_ns()), done, context);
}

struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	(void)timeout_ms;
	return call(r, memory_renew(example_service, id, flki_boottime_ns()), done, context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	(void)timeout_ms;
	return call(r, memory_end(example_service, id, flki_boottime_ns()), done, context);
}

void
records_cancel(struct records_call *c)
{
	TAILQ_REMOVE(&c->records->calls, c, link);
	memory_answer_free(c->answer);
	free(c);
}

/* The answer lives as long as done(), which may cancel any other call, and begin some: those come later. */
static void
tell(struct records *r)
{
	struct records_call *c,
	    last = { .records = r, .answer = memory_answer_of(RECORDS_OK, NULL) };

	TAILQ_INSERT_TAIL(&r->calls, &last, link);
	while ((c = TAILQ_FIRST(&r->calls)) != &last) {
		struct memory_answer *answer = c->answer;
		struct records_call told = *c;

		TAILQ_REMOVE(&r->calls, c, link);
		free(c);
		told.done(told.context, &answer->a);
		memory_answer_free(answer);
	}
	TAILQ_REMOVE(&r->calls, &last, link);
	memory_answer_free(last.answer);
}

/* ---- watches ---- */

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct records_watch *w = memory_got(calloc(1, sizeof(*w)));

	*w = (struct records_watch){ .next = from, .hears = hears, .context = context };
	w->ranges = ranges;
	if (!ranges_copy(w->range, range, ranges)) {
		free(w);
		return NULL;
	}
	w->from_now = from == 0;
	if (w->from_now)
		w->next = memory_revision(example_service) + 1;
	LIST_INSERT_HEAD(&r->watches, w, link);
	r->seen = 0;
	return w;
}

void
records_unwatch(struct records_watch *w)
{
	ranges_free(w->range, w->ranges);
	LIST_REMOVE(w, link);
	free(w);
}

static const struct memory_record *
next_change(struct records_watch *w)
{
	const struct memory_record *c;

	while ((c = memory_change(example_service,
				  memory_since(example_service, w->next) + w->told)) != NULL) {
		if (c->kv.changed > w->next)
			w->told = 0;
		w->next = c->kv.changed;
		w->told++;
		if (range_has(w->range, w->ranges, c->kv.key, c->deleted))
			return c;
	}
	if (w->next <= memory_revision(example_service))
		w->next = memory_revision(example_service) + 1;
	w->told = 0;
	return NULL;
}

/* The next that it must be told; false: there is nothing. */
static bool
next_news(struct records_watch *w, struct records_news *news, struct records_change *change)
{
	const struct memory_record *c = NULL;

	*news = (struct records_news){ .kind = WATCH_BEGUN, .change = change };
	if (w->over)
		return false;
	if (memory_compacted(example_service) >= w->next) {
		news->kind = WATCH_COMPACTED;
		w->over = true;
	} else if (!w->begun) {
		news->revision = w->from_now ? w->next : 0;
		w->begun = true;
	} else if ((c = next_change(w)) != NULL) {
		news->kind = WATCH_CHANGE;
		*change = (struct records_change){ c->deleted, c->kv };
	} else {
		return false;
	}
	return true;
}

/* What hears the news may end any watch: so the first that has some comes next. */
static bool
tell_one(struct records *r)
{
	struct records_change change;
	struct records_news news;
	struct records_watch *w;

	LIST_FOREACH(w, &r->watches, link)
		if (next_news(w, &news, &change)) {
			w->hears(w->context, &news);
			return true;
		}
	return false;
}

/* ---- an open store ---- */

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = memory_got(calloc(1, sizeof(*r)));

	(void)url;
	(void)pause_ms;
	*records = NULL;
	if ((r->fd = eventfd(0, EFD_CLOEXEC)) == -1) {
		snprintf(why, RECORDS_TEXT, "example: %s", strerror(errno));
		free(r);
		return -errno;
	}
	if (example_service == NULL)
		example_service = memory_new();
	TAILQ_INIT(&r->calls);
	LIST_INIT(&r->watches);
	*records = r;
	return 0;
}

void
records_close(struct records *r)
{
	while (!TAILQ_EMPTY(&r->calls))
		records_cancel(TAILQ_FIRST(&r->calls));
	while (!LIST_EMPTY(&r->watches))
		records_unwatch(LIST_FIRST(&r->watches));
	close(r->fd);
	free(r);
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ .operations = MEMORY_OPERATIONS, .value = MEMORY_VALUE };
}

uint64_t
records_replaced(const struct records *r)
{
	(void)r;
	return 0; /* another service would be another program */
}

int
records_fd(const struct records *r)
{
	return r->fd;
}

uint64_t
records_due(const struct records *r)
{
	if (!TAILQ_EMPTY(&r->calls) || r->seen < memory_revision(example_service))
		return 0;
	return memory_due(example_service);
}

void
records_step(struct records *r)
{
	memory_step(example_service, flki_boottime_ns());
	r->seen = memory_revision(example_service);
	tell(r);
	while (tell_one(r))
		;
}
