/* SPDX-License-Identifier: ISC */
/*
 * reply.h - what a gRPC server of the tests says in one stream: a head, messages, and at last a status.
 */
#ifndef REPLY_H
#define REPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <nghttp2/nghttp2.h>

#include "etcd/proto/wire.h"

/* Zero it before its first use; it must live as long as the stream. */
struct reply {
	struct wire_out out; /* the messages */
	size_t sent;         /* of `out' */
	bool begun;          /* the head was sent */
	bool ended;          /* `out' is the last, and then comes: */
	int status;          /* gRPC's; -1: none */
	char message[200];
};

/* Says what there is by now; http: HTTP's status, if it has not begun. */
void reply_speak(struct reply *r, nghttp2_session *session, int32_t id, const char *http);

/* Later, when all is said: see reply_speak(). */
void reply_end(struct reply *r, int status, const char *message);

#endif
