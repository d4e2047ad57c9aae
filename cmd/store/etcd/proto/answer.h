/* SPDX-License-Identifier: ISC */
/*
 * answer.h - what etcd answers: messages of rpc.proto, without gRPC's frame.
 *
 * Each function reads a whole message, and is false if the message makes no sense, or for want of
 * memory.  The texts and records of an answer lie in the message's own bytes.  So that each can end
 * with a NUL, the caller gives one byte beyond the message, too.
 */
#ifndef ANSWER_H
#define ANSWER_H

#include "records/records.h"
#include "wire.h"

/* Call answer_free() once in any case. */
struct answer {
	int64_t revision;
	bool held; /* of a transaction, with found and n */
	struct records_found *found;
	size_t n;
	struct record_kv *kv; /* of all found, in order */
	size_t kvs;
	int64_t ttl; /* of a lease */
	char *token; /* of a user; NULL: none */
	size_t token_size;

	/* While it is read: what the last operation counted, and whether request.c added it. */
	int64_t count;
	bool ours;
};

typedef bool answer_reader(struct answer *a, uint8_t *bytes, size_t size);

answer_reader answer_txn, answer_lease, answer_token;
void answer_free(struct answer *a);

/* Call news_free() once in any case. */
struct news {
	int64_t revision, id, compacted;
	bool created, canceled;
	char *reason; /* "": none */
	size_t reason_size;
	struct records_change *change;
	size_t n;
};

bool news_read(struct news *news, uint8_t *bytes, size_t size);
void news_free(struct news *news);

#endif
