/* SPDX-License-Identifier: ISC */
/*
 * verdict.h - what an answer means.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "client.h"

enum unlicensed {
	LICENSED,
	BAD_TOKEN,    /* the token is no longer good, or one is needed where there was none */
	BAD_PASSWORD, /* we asked for a token, and there is none for that user and password */
	NO_AUTH       /* we asked for a token, and the server wants none */
};

struct verdict {
	enum records_result result;
	enum unlicensed license;
	char words[RECORDS_TEXT]; /* a sentence, if not RECORDS_OK; without the endpoint */
};

/* gRPC's numbers, of those that we look at. */
enum {
	CANCELLED = 1,
	UNKNOWN = 2,
	LATE = 4,
	EXHAUSTED = 8,
	UNIMPLEMENTED = 12,
	INTERNAL = 13,
	UNAVAILABLE = 14,
	DATA_LOSS = 15
};

/*
 * Of a stream that has ended.  RECORDS_OK: the server says so, and the answer is to be read.  key: what
 * was asked for; NULL: not known.
 */
void verdict_of_end(struct verdict *v, struct records *r, struct endpoint *at,
		    const struct h2_stream *s, const char *key);

/* Of etcd's message about the reason; status: gRPC's. */
void verdict_of_message(struct verdict *v, const struct records *r, int status, const char *message,
			const char *key);

/* Of no answer.  A client that had an answer once keeps retrying, whatever is wrong now. */
void verdict_of_trouble(struct verdict *v, struct records *r, struct endpoint *at,
			struct trouble trouble);

/* Of a server that is no etcd 3.4: what it did. */
void verdict_of_stranger(struct verdict *v, const struct records *r, const char *did);

#endif
