/* SPDX-License-Identifier: ISC */
/*
 * watch.h - the watches of one stream.
 */
#ifndef FAKE_WATCH_H
#define FAKE_WATCH_H

#include "fake.h"

struct watch {
	int64_t id;
	struct range range; /* its own */
	bool noput, nodelete, prev_kv;
	int64_t next; /* the first revision it was not told of yet */
};

struct watches {
	struct watch *list; /* in the order of their creation */
	size_t count, room;
	int64_t next_id;
};

/* Does what one request asks for.  What is to be said is added to `lines', each with a newline;
 * false: it can't be understood, which is in call->wrong. */
bool watch_ask(struct watches *w, struct call *call, struct buf *lines);

/* Tells what happened since. */
void watch_tell(struct watches *w, const struct fake *fake, struct buf *lines);
void watch_free(struct watches *w);

#endif
