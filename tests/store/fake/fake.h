/* SPDX-License-Identifier: ISC */
/*
 * fake.h - a fake etcd 3.4: one process, in memory, one loop.  It is made of the JSON of etcd's gateway,
 * which it speaks as well as gRPC.
 *
 * http.c and grpc.c have the connections; what was asked goes through calls.c to what does it, in
 * one step: nothing else is done between the beginning and the end of a call.
 */
#ifndef FAKE_H
#define FAKE_H

#include "json.h"
#include "lease.h"

/* Who may do what.  Without a user everybody may do everything. */
struct auth {
	const char *user, *password;
	const char *denied; /* the beginning of the keys that are forbidden; NULL: none */
	char token[40];     /* "": none is valid now */
	unsigned tokens;    /* how many there were */
};

struct fake {
	struct kv kv;
	struct leases leases;
	struct auth auth;
	struct scrap scrap; /* of the call that is served now */
	int64_t now;        /* ms, of CLOCK_BOOTTIME */
	uint64_t cluster_id, member_id;
};

/* What a call is made with, and what comes of it. */
struct call {
	struct fake *fake;
	const json_t *body; /* an object */
	const char *token;  /* "": there was none */
	struct reading reading;
	struct wrong wrong;
};

/* {"header":{...}, to which the members that follow are added, and a closing brace. */
void write_header(struct buf *b, const struct fake *fake);

/* ---- op.c: what a transaction consists of, and what kv calls are ---- */

/* OP_EMPTY: a transaction within, in which there is nothing. */
enum op_kind { OP_NONE, OP_RANGE, OP_PUT, OP_DELETE, OP_EMPTY };

struct op {
	enum op_kind kind;
	struct range range; /* the key of a put, too */
	/* a put's */
	struct bytes value;
	int64_t lease;
	bool ignore_value, ignore_lease;
	bool prev_kv; /* a delete's as well */
	/* a range's */
	int64_t limit, revision, min_mod, max_mod, min_create, max_create;
	int order, target;
	bool keys_only, count_only;
};

struct op op_read(struct reading *r, enum op_kind kind, const json_t *o);

/* Each says in *wrong why not: it makes no sense; it is not for this caller; it can't be done now. */
bool op_makes_sense(const struct op *op, struct wrong *wrong);
bool op_is_allowed(struct call *call, const struct op *op);
bool op_can_be_done(const struct fake *fake, const struct op *op, struct wrong *wrong);

/* Does it, and writes the answer's members behind the header. */
void op_do(struct fake *fake, const struct op *op, struct buf *out);

/* range.c */
void range_do(const struct fake *fake, const struct op *op, struct buf *out);

/* ---- calls: each writes the answer, or says what is wrong and writes nothing ---- */

bool call_range(struct call *call, struct buf *out);
bool call_put(struct call *call, struct buf *out);
bool call_delete(struct call *call, struct buf *out);
bool call_txn(struct call *call, struct buf *out);
bool call_compaction(struct call *call, struct buf *out);
bool call_grant(struct call *call, struct buf *out);
bool call_revoke(struct call *call, struct buf *out);
bool call_keepalive(struct call *call, struct buf *out);
bool call_timetolive(struct call *call, struct buf *out);
bool call_leases(struct call *call, struct buf *out);
bool call_authenticate(struct call *call, struct buf *out);
bool call_status(struct call *call, struct buf *out);

/* ---- auth.c ---- */

/* "USER:PASSWORD", which is written to and kept, or "" for none; no token is valid then. */
bool auth_set_user(struct auth *auth, char *user);

/* Whether the caller is somebody. */
bool auth_is_user(struct call *call);

/* Whether the caller may touch these keys. */
bool auth_may(struct call *call, const struct range *range);

/* ---- calls.c ---- */

enum how { CALL_UNARY, CALL_STREAM, CALL_WATCH };

struct kind_of_call {
	const char *path;
	enum how how;
	bool (*serve)(struct call *call, struct buf *out); /* NULL: a watch */
};

/* NULL: there is no such call. */
const struct kind_of_call *call_find(const char *path);

#endif
