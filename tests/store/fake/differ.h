/* SPDX-License-Identifier: ISC */
/*
 * differ.h - the same calls to two servers, and what they make of them.
 */
#ifndef DIFFER_H
#define DIFFER_H

#include <jansson.h>

#include "buf.h"

/* ---- differ_client.c: HTTP, as little of it as is needed ---- */

struct peer {
	const char *name;
	int port, fd; /* -1: not connected */
	struct buf in;
};

/* One call; the head of its answer without what always differs, and its body.  Ends the program
 * where there is none. */
struct answer {
	struct buf head, body;
};

void peer_call(struct peer *p, const char *path, struct bytes body, struct answer *a);
void answer_free(struct answer *a);

/* A stream: asks, and from then on gives the lines that come, one at a time.  NULL: none came in so
 * many ms.  The line is valid until the next call. */
void peer_ask(struct peer *p, const char *path, struct bytes body);
char *peer_line(struct peer *p, int ms);
void peer_close(struct peer *p);

/* ---- differ_random.c ---- */

/* The same seed, the same calls.  The revision is the store's now, to ask for what there is. */
struct dice {
	uint64_t state;
	int64_t revision;
};

/* A call: its path, and its body in `body'. */
const char *dice_call(struct dice *d, struct buf *body);

/* The beginning of a watch on some keys, and perhaps on their past. */
void dice_watch(struct dice *d, struct buf *body, bool past);

#endif
