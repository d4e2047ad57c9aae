/* SPDX-License-Identifier: ISC */
/*
 * watch.h - a watch, as watch.c and feed.c know it.
 */
#ifndef WATCH_H
#define WATCH_H

#include "client.h"

struct watched_range {
	struct records_range of;
	int64_t next; /* W1 */
	int64_t id;   /* in the feed; 0: it is not there */
};

struct records_watch {
	LIST_ENTRY(records_watch) link;
	struct records *records;
	int64_t begun_at; /* the latest revision from which a range was begun "from now on"; or 0 */
	size_t missing;   /* so many ranges in the feed the server does not know of yet */
	bool denied;      /* it had no rights, perhaps by an old token; it retries with another */
	bool over;        /* it can't continue, or its caller has ended it: */
	bool dead;
	uint64_t
	    due; /* if ranges are missing: when to give up; if it is dead: when to say so; if it
			 waits: not before */
	records_hears *hears;
	void *context;
	size_t ranges;
	struct watched_range range[];
};

/* ---- watch.c ---- */

void watch_report(struct records_watch *w, enum records_news_kind kind,
		  const struct records_change *change, const char *text);

/* Does not continue. */
void watch_end(struct records_watch *w, enum records_news_kind kind, const char *text);

/* ---- feed.c ---- */

/* How long a server may say nothing while it has to begin a watch. */
#define FEED_OPEN_NS (5000 * MS)

/* Whether it is in the feed; if not, and it is not over, it waits to be. */
bool feed_has(const struct records_watch *w);

/* Adds the watches that wait, if the client is ready. */
void feed_add(struct records *r);

/* Adds a new one, if the stream is as it must be: then it is asked for before what the caller asks next. */
void feed_join(struct records_watch *w);

/* Tells the server that nobody watches its ranges any more. */
void feed_leave(struct records_watch *w);

/* Ends the stream: its watches wait. */
void feed_drop(struct records *r);

/* The server said nothing in time: the same, and a pause. */
void feed_silent(struct records *r);

#endif
