/* SPDX-License-Identifier: ISC */
/*
 * http.h - HTTP/1.1 as etcd's gateway speaks it, to the byte.
 */
#ifndef FAKE_HTTP_H
#define FAKE_HTTP_H

#include "json.h"

struct request {
	char method[16], path[256], token[512];
	bool close;    /* the answer is to be the last */
	bool expected; /* was told to go on with its body */
	struct buf body;
};

/* Takes a request from the front of `in'.  1: it did; 0: it is not all there yet; -1: it is none.
 * What is to be said before the rest may come is added to `out'. */
int http_read(struct buf *in, struct request *r, struct buf *out);

void http_json(struct buf *out, const struct request *r, struct bytes body);
void http_wrong(struct buf *out, const struct request *r, const struct wrong *wrong);

/* `sniffed': a type that Go found out by itself has another place. */
void http_plain(struct buf *out, const struct request *r, int status, const char *type,
		bool sniffed, struct bytes body);
void http_moved(struct buf *out, const struct request *r, const char *where);

/* A stream: its head, its chunks, its end.  An empty one was never asked of etcd itself. */
void http_stream(struct buf *out, const struct request *r, bool empty);
void http_chunk(struct buf *out, struct bytes chunk);
void http_end(struct buf *out);

/* ---- status.c ---- */

/* The HTTP status that belongs to a gRPC code, and its name. */
int status_of(int code);
const char *status_name(int status);

#endif
