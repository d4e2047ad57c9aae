/* SPDX-License-Identifier: ISC */
/*
 * call.c - calls.  Each is sent once.
 *
 *   called -> WAITING          [transmit]  for a token
 *   called -> SENT             [transmit]
 *   WAITING -> SENT            [calls_resume]
 *   SENT   -> WAITING or SENT  [goes_on]   its token was refused, for the first time
 *   any    -> finished         [finish]    the caller has its answer; the call is freed
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "etcd/proto/answer.h"
#include "etcd/proto/request.h"
#include "verdict.h"

#define MOST_ANSWER (UINT64_C(64) << 20)

/* What is called, and how its answer is read. */
struct kind {
	const char *path;
	bool (*read)(struct answer *a, uint8_t *bytes, size_t size);
};

static const struct kind txn_kind = { "/etcdserverpb.KV/Txn", answer_txn };
static const struct kind lease_kind = { "/etcdserverpb.Lease/LeaseGrant", answer_lease };
static const struct kind renew_kind = { "/etcdserverpb.Lease/LeaseKeepAlive", answer_lease };
static const struct kind end_kind = { "/etcdserverpb.Lease/LeaseRevoke", answer_lease };

struct records_call {
	LIST_ENTRY(records_call) link;
	struct records *records;
	const struct kind *kind;
	char *key;               /* that it is about; NULL: none */
	struct h2_stream stream; /* its `out' is the request, also while it is WAITING */
	bool sent;
	bool again;   /* its token was refused once */
	bool called;  /* calls_resume() or calls_step() has yet to look at it */
	uint64_t due; /* when to give it up; 0: it never had a chance */
	uint64_t sent_ns;
	uint64_t turn;       /* the client's turn when it was sent */
	uint64_t token;      /* the number of the token that it was sent with */
	struct endpoint *at; /* where it was sent to */
	records_done *done;
	void *context;
};

static void
free_call(struct records_call *c)
{
	h2_drop(&c->stream);
	free(c->key);
	free(c);
}

void
records_cancel(struct records_call *call)
{
	LIST_REMOVE(call, link);
	free_call(call);
}

static void
finish(struct records_call *c, struct records_answer *answer)
{
	answer->sent_ns = c->sent_ns;
	LIST_REMOVE(c, link);
	c->done(c->context, answer);
	free_call(c);
}

static void
fail(struct records_call *c, enum records_result result, const char *text)
{
	finish(c, &(struct records_answer){ .result = result, .text = text });
}

static bool transmit(struct records_call *c);

/* Whether it waits for another token; then the caller leaves it alone. */
static bool
goes_on(struct records_call *c, const struct verdict *v)
{
	const char *why;

	if (v->license != BAD_TOKEN || c->again || !token_refused(c->records, c->token))
		return false;
	c->again = true;
	h2_cancel(&c->stream);
	c->sent = false;
	if (token_barred(c->records, &why))
		c->due = 0; /* calls_step() ends it */
	else if (token_ready(c->records) && !transmit(c))
		fail(c, RECORDS_AWAY, NO_MEMORY);
	return true;
}

static void
judged(struct records_call *c, struct verdict *v)
{
	char text[RECORDS_TEXT];

	if (goes_on(c, v))
		return;
	token_hope(c->records, v);
	client_text(text, c->at, v->words);
	if (v->result == RECORDS_AWAY)
		client_turn(c->records, c->turn);
	else
		client_well(c->records);
	fail(c, v->result, text);
}

static void
answered(struct h2_stream *s)
{
	struct records_call *c = s->owner;
	struct records *r = c->records;
	struct answer a = { .n = 0 };
	struct verdict v;
	uint8_t *bytes = NULL;
	size_t size = 0;

	verdict_of_end(&v, r, c->at, s, c->key);
	if (v.result == RECORDS_OK) {
		bytes = h2_take(s, &size);
		if (bytes == NULL || !c->kind->read(&a, bytes, size))
			verdict_of_stranger(&v, r, NONSENSE);
	}
	if (v.result == RECORDS_OK) {
		r->sound = true;
		client_well(r);
		finish(c, &(struct records_answer){ .revision = a.revision,
						    .held = a.held,
						    .found = a.found,
						    .n = a.n,
						    .alive = a.ttl > 0 });
	} else {
		judged(c, &v);
	}
	answer_free(&a);
	free(bytes);
}

/* False for want of memory. */
static bool
transmit(struct records_call *c)
{
	c->stream = (struct h2_stream){ .path = c->kind->path,
					.token = token_now(c->records),
					.out = c->stream.out,
					.most = MOST_ANSWER,
					.ended = answered,
					.owner = c };
	c->sent = true;
	c->sent_ns = flki_boottime_ns();
	c->turn = c->records->turn;
	c->token = token_number(c->records);
	c->at = client_endpoint(c->records);
	return client_start(c->records, &c->stream);
}

/* Takes the request over.  NULL for want of memory. */
static struct records_call *
call(struct records *r, const struct kind *kind, struct wire_out request, unsigned timeout_ms,
     records_done *done, void *context)
{
	struct records_call *c = request.failed ? NULL : calloc(1, sizeof(*c));
	const char *why;

	if (c == NULL) {
		free(request.at);
		return NULL;
	}
	*c = (struct records_call){
		.records = r, .kind = kind, .stream.out = request, .done = done, .context = context
	};
	c->sent_ns = flki_boottime_ns();
	c->due = c->sent_ns + timeout_ms * MS;
	LIST_INSERT_HEAD(&r->calls, c, link);
	if (!client_reaches(r) || token_barred(r, &why)) {
		c->due = 0; /* calls_step() ends it */
	} else if (token_ready(r) && !transmit(c)) {
		records_cancel(c);
		return NULL;
	}
	return c;
}

struct records_call *
records_txn(struct records *r, struct txn *txn, unsigned timeout_ms, records_done *done,
	    void *context)
{
	struct wire_out w = { .failed = txn == NULL || txn->failed };
	struct records_call *c;

	if (!w.failed)
		request_txn(&w, txn);
	c = call(r, &txn_kind, w, timeout_ms, done, context);
	if (c != NULL && txn->n > 0)
		c->key = strdup(txn->item[0].key);
	txn_free(txn);
	return c;
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	struct wire_out w = { .failed = false };

	request_lease(&w, id, ttl_s);
	return call(r, &lease_kind, w, timeout_ms, done, context);
}

/* A stream of its own for each: the server ends it after the answer, as that of any other call. */
struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	struct wire_out w = { .failed = false };

	request_of_lease(&w, id);
	return call(r, &renew_kind, w, timeout_ms, done, context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	struct wire_out w = { .failed = false };

	request_of_lease(&w, id);
	return call(r, &end_kind, w, timeout_ms, done, context);
}

/* ---- calls that wait, or are late ---------------------------------------------------------- */

static struct records_call *
first_called(const struct records *r)
{
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		if (c->called)
			return c;
	return NULL;
}

/* The end of one call may begin or cancel others: so look for the waiting calls one at a time. */
void
calls_resume(struct records *r, enum records_result result, const char *text)
{
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		c->called = !c->sent;
	while ((c = first_called(r)) != NULL) {
		c->called = false;
		if (result != RECORDS_OK)
			fail(c, result, text);
		else if (token_ready(r) && !transmit(c))
			fail(c, RECORDS_AWAY, NO_MEMORY);
	}
}

uint64_t
calls_due(const struct records *r)
{
	uint64_t due = UINT64_MAX;
	const struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		if (c->due < due)
			due = c->due;
	return due;
}

static void
late(struct records_call *c)
{
	struct records *r = c->records;
	char text[RECORDS_TEXT];
	const char *why;
	struct verdict v;

	if (c->sent) {
		verdict_of_trouble(&v, r, c->at, (struct trouble){ AWAY, SILENT });
		judged(c, &v);
		return;
	}
	if (!token_barred(r, &why)) {
		client_text(text, client_endpoint(r),
			    c->due == 0 ? "no address is known for that name" : "no token in time");
		why = text;
	}
	fail(c, RECORDS_AWAY, why);
}

void
calls_step(struct records *r)
{
	uint64_t now = flki_boottime_ns();
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		c->called = c->due <= now;
	while ((c = first_called(r)) != NULL) {
		c->called = false;
		late(c);
	}
}
