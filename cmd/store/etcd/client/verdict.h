/* SPDX-License-Identifier: ISC */
/*
 * verdict.h - what an answer means, or that there is none.
 */
#ifndef VERDICT_H
#define VERDICT_H

#include "etcd/h2/h2.h"
#include "etcd/proto/messages.h"
#include "records/records.h"

struct endpoint;
struct exchange;

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

/*
 * Of a stream that has ended.  RECORDS_OK: the server says so, and the answer is to be read.  key: what
 * was asked for; NULL: not known.
 */
void verdict_of_end(struct verdict *v, struct records *r, const struct exchange *x,
		    const char *key);

/* The same, and reads the answer: it lives until client_end(x), and answer_free(). */
void verdict_of_answer(struct verdict *v, struct records *r, struct exchange *x, const char *key,
		       answer_reader *read, struct answer *a);

/* Of etcd's message about the reason; passing: of one that we do not know, whether to try again. */
void verdict_of_message(struct verdict *v, const struct records *r, bool passing,
			const char *message, const char *key);

/* Of no answer.  A client that had an answer once keeps retrying, whatever is wrong now. */
void verdict_of_trouble(struct verdict *v, struct records *r, struct endpoint *at,
			struct trouble trouble);

/* Of a server that is no etcd 3.4: what it did. */
void verdict_of_stranger(struct verdict *v, const struct records *r, const char *did);

#endif
