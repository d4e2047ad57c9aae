/* SPDX-License-Identifier: ISC */
/*
 * stream.h - a stream of a connection to the fake, which is a call of etcd: one message in, one out; or
 * watches, with messages of both sides.
 */
#ifndef STREAM_H
#define STREAM_H

#include "../reply.h"
#include "fake.h"

struct stream {
	LIST_ENTRY(stream) link;
	struct records *records; /* the peer's */
	int32_t id;
	char call[40], token[512]; /* call: as Txn */
	struct wire_out in;
	struct asked_txn asked;
	struct reply reply;
	LIST_HEAD(, watch) watches;
};

/* ---- calls.c ---- */

/* A whole message has come. */
void stream_hears(struct stream *st, struct wire_in in);

/* Begins a message: its header, and then the caller's fields; wire_frame() with *begun ends it. */
struct wire_out *stream_says(struct stream *st, size_t *begun, int64_t revision);

/* ---- watches.c ---- */

void watch_create(struct stream *st, struct wire_in in);
void watch_end(struct stream *st, struct wire_in in);
void watches_say(struct stream *st); /* what they have heard */
void watches_free(struct stream *st);

#endif
