/* SPDX-License-Identifier: ISC */
/*
 * grpc.h - connections that speak gRPC: HTTP/2, whose streams are calls.  What is in them is the same as
 * in the gateway's JSON: see transcode.h.  The log has the gateway's paths.
 */
#ifndef FAKE_GRPC_H
#define FAKE_GRPC_H

#include "server.h"

struct grpc;

/* Whether the connection begins as HTTP/2 does; false as well if that is not known yet. */
bool grpc_begins(const struct buf *in);

struct grpc *grpc_new(struct server *s, struct conn *c);
void grpc_free(struct grpc *g);

/* What came; false: the connection is to end. */
bool grpc_advance(struct grpc *g);

/* Tells its watches what is new. */
void grpc_tell(struct grpc *g);

bool grpc_watches(const struct grpc *g); /* whether it has any */

#endif
