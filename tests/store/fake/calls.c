/* SPDX-License-Identifier: ISC */
/*
 * calls.c - the calls of etcd that the fake knows: transactions, leases, and a user's token.  The store in
 * memory answers at once.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../memory/inside.h"
#include "../memory/world.h"
#include "stream.h"

struct wire_out *
stream_says(struct stream *st, size_t *begun, int64_t revision)
{
	*begun = st->reply.out.n;
	write_header(&st->reply.out, revision);
	return &st->reply.out;
}

static void
refuse(struct stream *st, const struct records_answer *a)
{
	static const enum code codes[] = { [RECORDS_NOLEASE] = NOT_FOUND,
					   [RECORDS_EXISTS] = PRECONDITION,
					   [RECORDS_WRONG] = BAD_ARGUMENT };
	const char *words = strchr(a->text, ' ');
	char text[RECORDS_TEXT];

	snprintf(text, sizeof(text), "etcdserver:%s", words == NULL ? "" : words);
	reply_end(&st->reply, codes[a->result], text);
}

static void
did_txn(void *context, const struct records_answer *a)
{
	struct stream *st = context;
	size_t begun;

	if (a->result != RECORDS_OK) {
		refuse(st, a);
		return;
	}
	begun = st->reply.out.n;
	write_txn(&st->reply.out, &st->asked, a);
	wire_frame(&st->reply.out, begun);
	reply_end(&st->reply, OK, "");
}

static void
call_txn(struct stream *st, struct wire_in in)
{
	if (read_txn(in, &st->asked)) {
		records_txn(st->records, st->asked.txn, UINT_MAX, did_txn, st);
		return;
	}
	txn_free(st->asked.txn);
	reply_end(&st->reply, UNIMPLEMENTED, "fake etcd: it does not know that");
}

/* Its TTL: the client asks only whether there is one. */
static void
did_lease(void *context, const struct records_answer *a)
{
	struct stream *st = context;
	struct wire_out *w;
	size_t begun;

	if (a->result != RECORDS_OK) {
		refuse(st, a);
		return;
	}
	w = stream_says(st, &begun, a->revision);
	if (a->alive)
		wire_number(w, 3, 1);
	wire_frame(w, begun);
	reply_end(&st->reply, OK, ""); /* a client asks once in a stream */
}

static void
call_lease(struct stream *st, struct wire_in in)
{
	bool grants = strcmp(st->call, "LeaseGrant") == 0;
	struct records *r = st->records;
	int64_t id = 0, ttl = 0;
	struct wire_field f;

	while (wire_next(&in, &f))
		if (f.number == (grants ? 2 : 1))
			id = (int64_t)f.value;
		else
			ttl = (int64_t)f.value;
	if (grants)
		records_lease(r, id, (uint32_t)ttl, UINT_MAX, did_lease, st);
	else if (strcmp(st->call, "LeaseRevoke") == 0)
		records_end(r, id, UINT_MAX, did_lease, st);
	else
		records_renew(r, id, UINT_MAX, did_lease, st);
}

static void
call_token(struct stream *st, struct wire_in in)
{
	char *text[3] = { NULL };
	const char *token, *why;
	struct wire_field f;
	enum code code;
	struct wire_out *w;
	size_t begun;

	while (wire_next(&in, &f))
		if (f.type == WIRE_BYTES && f.number < 3 && text[f.number] == NULL)
			text[f.number] = copy_of(&f);
	token = user_token(text[1], text[2], &why, &code);
	free(text[1]);
	free(text[2]);
	if (token == NULL) {
		reply_end(&st->reply, (int)code, why);
		return;
	}
	w = stream_says(st, &begun, memory_revision(world_memory()));
	wire_text(w, 2, token);
	wire_frame(w, begun);
	reply_end(&st->reply, OK, "");
}

void
stream_hears(struct stream *st, struct wire_in in)
{
	bool is_watch = strcmp(st->call, "Watch") == 0;
	const char *wrong = NULL;
	struct wire_field f;
	enum code code;

	if (!is_watch)
		note("%s", st->call);
	/* etcd looks at the token of a call for a lease only if it has one. */
	if (strcmp(st->call, "Txn") == 0 ||
	    (strncmp(st->call, "Lease", 5) == 0 && st->token[0] != '\0' &&
	     strcmp(st->call, "LeaseKeepAlive") != 0))
		wrong = user_wrong(st->token, &code);
	if (wrong != NULL) {
		reply_end(&st->reply, (int)code, wrong);
	} else if (strcmp(st->call, "Txn") == 0 && st->asked.txn == NULL) {
		call_txn(st, in);
	} else if (strncmp(st->call, "Lease", 5) == 0) {
		call_lease(st, in);
	} else if (strcmp(st->call, "Authenticate") == 0) {
		call_token(st, in);
	} else if (is_watch && wire_next(&in, &f) && f.type == WIRE_BYTES) {
		if (f.number == 1)
			watch_create(st, f.bytes);
		else
			watch_end(st, f.bytes);
	} else {
		reply_end(&st->reply, UNIMPLEMENTED, "fake etcd: it does not know that");
	}
	/* So no answer is due when its stream is closed. */
	records_step(st->records);
}
