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
	BAD_PASSWORD, /* a token was asked for, and there is none for that user and password */
	NO_AUTH       /* a token was asked for, and the server wants none */
};

struct verdict {
	enum etcd_result result;
	enum unlicensed license;
	char words[CLIENT_TEXT]; /* a sentence, if not ETCD_OK; without the endpoint */
};

/* The request's body, for the key that there are no rights on; NULL: not known. */
struct asked {
	const char *body;
};

/* Of a whole answer; body: parsed, or NULL if it is no JSON. */
void verdict_of(struct verdict *v, struct etcd *e, long status, const json_t *body,
		const struct asked *asked);

/* Of what etcd says about why; status: HTTP's. */
void verdict_of_message(struct verdict *v, const struct etcd *e, long status, const char *message,
			const struct asked *asked);

/* Of no answer.  A client that was once answered goes on trying, whatever is wrong now. */
void verdict_of_trouble(struct verdict *v, struct etcd *e, struct endpoint *at,
			enum http_trouble trouble, const char *why);

/* What it says, or NULL. */
const char *verdict_message(const json_t *body);

#endif
