/* SPDX-License-Identifier: ISC */
/*
 * http.h - HTTP/1.1, for the orders that the proxy gets.
 */
#ifndef FAKE_HTTP_H
#define FAKE_HTTP_H

#include "buf.h"

/* Takes a request from the front of `in', of which its body is what counts.  1: it did; 0: it is not
 * all there yet; -1: it is none. */
int http_read(struct buf *in, struct buf *body);

void http_answer(struct buf *out, bool fine, struct bytes body);

#endif
