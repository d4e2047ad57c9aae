/* SPDX-License-Identifier: ISC */
/*
 * transcode.h - messages of gRPC as the JSON that the fake is made of, and the reverse.
 */
#ifndef FAKE_TRANSCODE_H
#define FAKE_TRANSCODE_H

#include <jansson.h>

#include "etcd/proto/wire.h"

/* The messages of one call; NULL of what there is not. */
struct transcoder {
	const char *grpc, *path; /* "/etcdserverpb.KV/Txn", "/v3/kv/txn" */
	const struct message *asked, *answered;
};

/* By gRPC's path; NULL: there is no such call. */
const struct transcoder *transcoder_of(const char *grpc);

/* An object, or NULL if the bytes make no sense. */
json_t *json_of_message(const struct message *m, uint8_t *bytes, size_t size);

void message_of_json(const struct message *m, const json_t *o, struct wire_out *w);

#endif
