/* SPDX-License-Identifier: ISC */
/*
 * fake.h - a fake etcd: the store in memory (../memory), to clients that speak gRPC.
 */
#ifndef FAKE_H
#define FAKE_H

#include <sys/queue.h>

#include "etcd/proto/wire.h"
#include "../memory/memory.h"

enum code {
	OK = 0,
	BAD_ARGUMENT = 3,
	NOT_FOUND = 5,
	PRECONDITION = 9,
	UNIMPLEMENTED = 12,
	UNAUTHENTICATED = 16
};

/* ---- fake.c ---- */

/* A line of the log: see fake.c. */
void note(const char *words, ...) __attribute__((__format__(__printf__, 1, 2)));

/* NULL: the token is good, or none is needed; else etcd's words, and the code. */
const char *user_wrong(const char *token, enum code *code);

/* The token, or NULL: then etcd's words and the code. */
const char *user_token(const char *name, const char *password, const char **why, enum code *code);

/* ---- grpc.c: connections ---- */

struct peer;

struct peer *peer_new(int fd);
void peer_free(struct peer *p);
int peer_fd(const struct peer *p);
bool peer_wants_to_write(const struct peer *p);
bool peer_watches(const struct peer *p);

/* Each is false when the connection is at its end. */
bool peer_hears(struct peer *p);
bool peer_speaks(struct peer *p); /* after all others have heard */

/* ---- messages.c ---- */

/* A transaction, and what is answered that the store in memory does not know. */
struct asked_txn {
	struct txn *txn;
	bool guarded; /* an empty transaction is done otherwise */
	enum txn_kind kind[TXN_PARTS][MEMORY_OPERATIONS]; /* of its items, in each part */
};

/* False: it makes no sense. */
bool read_txn(struct wire_in in, struct asked_txn *asked);

void write_header(struct wire_out *w, int64_t revision);
void write_txn(struct wire_out *w, const struct asked_txn *asked, const struct records_answer *a);
void write_event(struct wire_out *w, const struct records_change *c);

char *copy_of(const struct wire_field *f); /* of its bytes, with a NUL; to be freed */

#endif
