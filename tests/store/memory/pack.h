/* SPDX-License-Identifier: ISC */
/*
 * pack.h - what the store in memory and its clients send each other.
 *
 * Each thing has one function, which writes it or reads it, so that both ends agree.  Both are on one
 * machine: a number is eight bytes in its order.  What a reader finds wrong, it must not use.
 */
#ifndef PACK_H
#define PACK_H

#include "memory.h"

/* Bytes that are written, or those that are read.  Zero it before it is first written to. */
struct pack {
	char *at;
	size_t n, room; /* room: of what is written */
	bool reads;
	size_t next; /* the byte that is read next */
	bool wrong;  /* what was read is no such thing */
};

void *pack_got(void *p); /* ends the program if it is NULL */

void pack_room(struct pack *p, size_t n); /* for n bytes more */
void pack_number(struct pack *p, uint64_t *number);

/* ---- what a client asks ---- */

enum request_kind { ASK_TXN, ASK_LEASE, ASK_RENEWAL, ASK_END, ASK_WATCH, ASK_UNWATCH, ASKS };

struct request {
	enum request_kind kind;
	uint64_t number; /* of the call or the watch */
	int64_t lease;
	uint32_t ttl_s;
	int64_t from;
	struct records_range range[RECORDS_RANGES]; /* that were read: in the message */
	size_t ranges;
	struct txn *txn; /* that was read: to be freed */
};

void pack_request(struct pack *p, struct request *q);

/* ---- what the server says, of a call or of a watch ---- */

struct reply {
	uint64_t number;
	bool is_news;
	struct records_answer answer;
	struct records_news news;
	/* Of what was read, the texts are in the message: */
	struct records_found found[MEMORY_OPERATIONS];
	struct records_change change;
};

void pack_reply(struct pack *p, struct reply *r);
void reply_free(struct reply *r); /* that was read */

#endif
