/* SPDX-License-Identifier: ISC */
/*
 * watch.h - a watch, as watch.c and feed.c know it.
 */
#ifndef WATCH_H
#define WATCH_H

#include "client.h"
#include "etcd/proto/answer.h"
#include "verdict.h"

enum watch_state { RESTING, OPENING, OPEN_WATCH, OVER };

struct watched_range {
	char *key, *end;
	bool no_put, no_delete;
	int64_t next; /* W1 */
	int64_t id;   /* in the feed; 0: it is not there */
};

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records *records;
	enum watch_state state;
	size_t ranges;
	struct watched_range range[RECORDS_RANGES];
	int64_t begun_at; /* the latest revision from which a range was begun "from now on"; or 0 */
	unsigned created; /* a bit for each range that the server knows of */
	uint64_t due;     /* when RESTING: to begin; when OPENING: to give up */
	uint64_t opened;  /* when OPEN_WATCH: since when */
	unsigned failures;
	bool called; /* a loop over the watches has yet to look at it */
	bool denied; /* it had no rights, perhaps by an old token; it retries with another */
	bool in_callback, dead;
	uint64_t turn;
	records_hears *hears;
	void *context;
};

/* ---- watch.c ---- */

/*
 * W2: a caller that has set `in_callback' checks `dead' afterwards; any other caller must not touch
 * the watch any more.
 */
void watch_report(struct records_watch *w, enum records_news_kind kind,
		  const struct records_change *change, const char *text);

/* Continues later.  The client's turn decides which endpoint is next. */
void watch_rest(struct records_watch *w);

/* Does not continue. */
void watch_end(struct records_watch *w, enum records_news_kind kind, const char *text);

/* Does one of the two. */
void watch_judged(struct records_watch *w, const struct verdict *v);

/* One of the watches that are `called', which is not any more; NULL: none. */
struct records_watch *watch_next_called(const struct records *r);

/* ---- feed.c ---- */

/* Asks for all ranges of the watch; false: for want of memory. */
bool feed_add(struct records_watch *w);

/* Forgets them. */
void feed_remove(struct records_watch *w);
void feed_tidy(struct records *r); /* at its gone_due */

/* Ends the stream: all its watches are judged. */
void feed_judged(struct records *r, const struct verdict *v);

#endif
