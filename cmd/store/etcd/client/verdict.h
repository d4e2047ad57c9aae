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
	enum etcd_result result;
	enum unlicensed license;
	char words[CLIENT_TEXT]; /* a sentence, if not ETCD_OK; without the endpoint */
};

/* The request's body: it has the key that we have no rights on; NULL: not known. */
struct asked {
	const char *body;
};

/* Of a whole answer; body: parsed, or NULL if it is not JSON. */
void verdict_of(struct verdict *v, struct etcd *e, long status, const json_t *body,
		const struct asked *asked);

/* Of etcd's message about the reason; status: HTTP's. */
void verdict_of_message(struct verdict *v, const struct etcd *e, long status, const char *message,
			const struct asked *asked);

/* Of no answer.  A client that had an answer once keeps retrying, whatever is wrong now. */
void verdict_of_trouble(struct verdict *v, struct etcd *e, struct endpoint *at,
			enum http_trouble trouble, const char *why);

/* The message in a body, or NULL. */
const char *verdict_message(const json_t *body);

#endif
