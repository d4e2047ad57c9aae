/* SPDX-License-Identifier: ISC */
/*
 * http.h - HTTP/1.1, for the orders that the proxy gets, and what goes through it.
 */
#ifndef FAKE_HTTP_H
#define FAKE_HTTP_H

#include "buf.h"

struct request {
	char method[16], path[256];
	bool expected; /* was told to go on with its body */
	struct buf body;
};

/* Takes a request from the front of `in'.  1: it did; 0: it is not all there yet; -1: it is none.
 * What is to be said before the rest may come is added to `out'. */
int http_read(struct buf *in, struct request *r, struct buf *out);

void http_answer(struct buf *out, bool fine, struct bytes body);

#endif
