/* SPDX-License-Identifier: ISC */
/*
 * request.h - what etcd is asked: whole messages of rpc.proto, each with gRPC's frame before it.
 */
#ifndef REQUEST_H
#define REQUEST_H

#include "records/records.h"
#include "wire.h"

#define REQUEST_OPERATIONS \
	127 /* of each part of a transaction: etcd's limit is 128, see request.c */

void request_txn(struct wire_out *w, const struct txn *txn);
void request_lease(struct wire_out *w, int64_t id, uint32_t ttl_s);
void request_of_lease(struct wire_out *w, int64_t id); /* to end it, or to renew it */
void request_token(struct wire_out *w, const char *user, const char *password);

/* key and end of the range; from: a revision, 0 for now.  The answers have that id. */
void request_watch(struct wire_out *w, int64_t id, const struct records_range *range, int64_t from);
void request_unwatch(struct wire_out *w, int64_t id);

#endif
