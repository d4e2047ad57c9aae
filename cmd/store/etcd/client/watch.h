/* SPDX-License-Identifier: ISC */
/*
 * watch.h - a watch, as its two parts know it: see watch.c.
 */
#ifndef WATCH_H
#define WATCH_H

#include "client.h"
#include "etcd/body/request.h"

struct verdict;

enum watch_state { RESTING, OPENING, OPEN, OVER };

struct etcd_watch {
	LIST_ENTRY(etcd_watch) link;
	struct etcd *etcd;
	enum watch_state state;
	size_t ranges;
	struct request_range range[ETCD_RANGES];
	int64_t begun_at; /* the latest revision from which a range was begun "from now on"; or 0 */
	unsigned created; /* a bit for each range that the server knows of */
	struct post post; /* if OPENING or OPEN */
	uint64_t due;     /* when RESTING: to begin; when OPENING: to give up */
	uint64_t opened;  /* when OPEN: since when */
	unsigned failures;
	bool waits;  /* it is due, but for a token */
	bool called; /* watches_step() or watches_resume() has yet to look at it */
	bool denied; /* it had no rights, perhaps by an old token; it retries with another */
	bool in_callback, dead;
	uint64_t turn, token;
	struct endpoint *at;
	etcd_hears *hears;
	void *context;
};

/* ---- ending.c ---- */

/*
 * W2: a caller that has set `in_callback' checks `dead' afterwards; any other caller must not touch
 * the watch any more.
 */
void stream_report(struct etcd_watch *w, enum etcd_watch_kind kind,
		   const struct etcd_change *change, const char *text);

/* Continues later.  The client's turn decides which endpoint is next. */
void stream_rest(struct etcd_watch *w);

/* Does not continue. */
void stream_end(struct etcd_watch *w, enum etcd_watch_kind kind, const char *text);

/* Does one of the two. */
void stream_judged(struct etcd_watch *w, struct verdict *v);

void stream_close(struct etcd_watch *w); /* the watch stays in its state */
void stream_destroy(struct etcd_watch *w);

/* For struct post: the stream has ended. */
void stream_ended(struct post *p, enum http_trouble trouble, const char *why);

/* ---- stream.c ---- */

/* For struct post: there is more in the stream. */
void stream_hears(struct post *p);

#endif
