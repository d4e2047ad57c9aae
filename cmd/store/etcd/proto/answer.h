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
	bool headed; /* it has a header: each answer of etcd does */
	int64_t revision;
	bool held; /* of a transaction, with found and n */
	struct records_found *found;
	size_t n;
	struct record_kv *kv; /* of all found, in order */
	int64_t ttl;          /* of a lease */
	char *token;          /* of a user */
};

bool answer_txn(struct answer *a, uint8_t *bytes, size_t size);
bool answer_lease(struct answer *a, uint8_t *bytes, size_t size);
bool answer_token(struct answer *a, uint8_t *bytes, size_t size);
void answer_free(struct answer *a);

/* Call news_free() once in any case. */
struct news {
	bool headed;
	int64_t revision, id, compacted;
	bool created, canceled;
	char *reason; /* "": none */
	struct records_change *change;
	size_t n;
};

bool news_read(struct news *news, uint8_t *bytes, size_t size);
void news_free(struct news *news);

#endif
