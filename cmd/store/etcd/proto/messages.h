/* SPDX-License-Identifier: ISC */
/*
 * messages.h - what etcd is asked, and what it answers: messages of rpc.proto.
 *
 * A request is a whole message with gRPC's frame before it.  An answer is read without the frame.
 */
#ifndef MESSAGES_H
#define MESSAGES_H

#include "records/records.h"
#include "wire.h"

#define REQUEST_OPERATIONS \
	127 /* of each part of a transaction: etcd's limit is 128, see request.c */

void request_txn(struct wire_out *w, const struct txn *txn);
void request_lease(struct wire_out *w, int64_t id,
		   uint32_t ttl_s); /* 0: to end it, or to renew it */
void request_token(struct wire_out *w, const char *user, const char *password);

/* key and end of the range; from: a revision, 0 for now.  The answers have that id. */
void request_watch(struct wire_out *w, int64_t id, const struct records_range *range, int64_t from);
void request_unwatch(struct wire_out *w, int64_t id);

enum answer_kind { ANSWER_TXN, ANSWER_LEASE, ANSWER_TOKEN, ANSWER_WATCH };

/* Call answer_free() once in any case. */
struct answer {
	int64_t revision;

	/* Of a call. */
	bool held; /* of a transaction, with found and n */
	struct records_found *found;
	size_t n;
	struct record_kv *kv; /* of all found, in order */
	size_t kvs;
	int64_t ttl; /* of a lease */
	char *token; /* of a user; NULL: none */

	/* Of watches. */
	int64_t id, compacted;
	bool created, canceled;
	char *reason; /* NULL: none */
	struct records_change *change;
	size_t changes;

	/* While it is read: what the last operation counted; not NULL: request.c added it. */
	int64_t count;
	char *ours;
};

/*
 * Reads a whole message; false if it makes no sense, or for want of memory.  The texts of an answer
 * lie in the message's own bytes, which the reader changes so that each text ends with a NUL.
 */
bool answer_read(struct answer *a, enum answer_kind kind, uint8_t *bytes, size_t size);
void answer_free(struct answer *a);

#endif
