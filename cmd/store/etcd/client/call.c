/* SPDX-License-Identifier: ISC */
/*
 * call.c - calls.  Each is sent once.
 *
 *   called  -> WAITING  [call]            for a token, or to be told that there is none
 *   called  -> SENT     [transmit]
 *   WAITING -> SENT     [go_on]
 *   SENT    -> WAITING  [judged]          its token was refused, for the first time
 *   any     -> OVER     [finish]          the caller has its answer
 *   any     -> OVER     [records_cancel]  or wants none
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"
#include "etcd/proto/messages.h"
#include "now.h"

#define MOST_ANSWER (UINT64_C(64) << 20)

struct records_call {
	LIST_ENTRY(records_call) link;
	struct records *records;
	const char *path; /* what is called */
	enum answer_kind answer;
	enum { WAITING, SENT, OVER } state;
	bool again;        /* its token was refused once */
	char *key;         /* that it is about; NULL: none */
	struct exchange x; /* its `out' is the request, also while it is WAITING */
	uint64_t due;      /* when to give it up */
	uint64_t sent_ns;
	records_done *done;
	void *context;
};

void
records_cancel(struct records_call *c)
{
	h2_drop(&c->x.stream);
	c->state = OVER;
}

static void
finish(struct records_call *c, struct records_answer *answer)
{
	answer->sent_ns = c->sent_ns;
	c->done(c->context, answer);
	records_cancel(c);
}

static void
fail(struct records_call *c, enum records_result result, const char *text)
{
	finish(c, &(struct records_answer){ .result = result, .text = text });
}

/* There is no answer, or none that helps. */
static void
judged(struct records_call *c, struct verdict *v)
{
	char text[RECORDS_TEXT];

	if (v->license == BAD_TOKEN && !c->again && token_refused(c->records, c->x.token)) {
		c->again = true;
		c->state = WAITING;
		h2_cancel(&c->x.stream);
		return;
	}
	token_hope(c->records, v);
	client_text(text, c->x.at, v->words);
	if (v->result == RECORDS_AWAY)
		client_turn(c->records, c->x.turn);
	else
		client_well(c->records);
	fail(c, v->result, text);
}

static void
answered(struct h2_stream *s)
{
	struct records_call *c = s->owner;
	struct answer a = { .n = 0 };
	struct verdict v;

	verdict_of_answer(&v, c->records, &c->x, c->key, c->answer, &a);
	if (v.result == RECORDS_OK) {
		c->records->sound = true;
		c->records->answered_ns = flki_boottime_ns();
		client_well(c->records);
		finish(c, &(struct records_answer){ .revision = a.revision,
						    .held = a.held,
						    .found = a.found,
						    .n = a.n,
						    .alive = a.ttl > 0 });
	} else {
		judged(c, &v);
	}
	answer_free(&a);
}

static void
transmit(struct records_call *c)
{
	c->x.stream = (struct h2_stream){ .path = c->path,
					  .out = c->x.stream.out,
					  .most = MOST_ANSWER,
					  .heard = answered,
					  .owner = c };
	c->state = SENT;
	c->sent_ns = flki_boottime_ns();
	client_start(c->records, &c->x);
}

/* Takes the request over.  NULL for want of memory. */
static struct records_call *
call(struct records *r, const char *path, enum answer_kind answer, struct wire_out request,
     unsigned timeout_ms, records_done *done, void *context)
{
	struct records_call *c = request.failed ? NULL : calloc(1, sizeof(*c));
	struct verdict v;

	if (c == NULL) {
		free(request.at);
		return NULL;
	}
	c->records = r;
	c->path = path;
	c->answer = answer;
	c->x.stream.out = request;
	c->done = done;
	c->context = context;
	c->sent_ns = flki_boottime_ns();
	c->due = c->sent_ns + timeout_ms * MS;
	LIST_INSERT_HEAD(&r->calls, c, link);
	if (client_ready(r, &v))
		transmit(c);
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
	c = call(r, "/etcdserverpb.KV/Txn", ANSWER_TXN, w, timeout_ms, done, context);
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
	return call(r, "/etcdserverpb.Lease/LeaseGrant", ANSWER_LEASE, w, timeout_ms, done,
		    context);
}

/* A stream of its own for each: the server ends it after the answer, as that of any other call. */
struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	struct wire_out w = { .failed = false };

	request_lease(&w, id, 0);
	return call(r, "/etcdserverpb.Lease/LeaseKeepAlive", ANSWER_LEASE, w, timeout_ms, done,
		    context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	struct wire_out w = { .failed = false };

	request_lease(&w, id, 0);
	return call(r, "/etcdserverpb.Lease/LeaseRevoke", ANSWER_LEASE, w, timeout_ms, done,
		    context);
}

/* ---- calls that wait, are late, or are over ------------------------------------------------ */

static uint64_t
due(const struct records_call *c)
{
	if (c->state == OVER)
		return UINT64_MAX;
	return c->state == SENT || c->records->token.state == ASKED ? c->due : 0;
}

uint64_t
calls_due(const struct records *r)
{
	uint64_t first = UINT64_MAX;
	const struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		first = earlier(first, due(c));
	return first;
}

static void
go_on(struct records_call *c)
{
	struct records *r = c->records;
	char text[RECORDS_TEXT];
	struct verdict v;

	if (c->state == SENT) {
		verdict_of_trouble(&v, r, c->x.at, (struct trouble){ AWAY, SILENT });
		/* One that answers others meanwhile is slow, and would be slower if the client left it. */
		if (r->answered_ns > c->sent_ns) {
			client_text(text, c->x.at, v.words);
			fail(c, v.result, text);
		} else {
			judged(c, &v);
		}
	} else if (client_ready(r, &v)) {
		transmit(c);
	} else if (v.result != RECORDS_OK) {
		fail(c, v.result, v.words);
	} else if (c->due <= flki_boottime_ns()) {
		client_text(text, client_endpoint(r), "no token in time");
		fail(c, RECORDS_AWAY, text);
	}
}

/* A call that a caller's function begins goes to the head, where the loop has been: a step ends. */
void
calls_step(struct records *r)
{
	uint64_t now = flki_boottime_ns();
	struct records_call *c, *next;

	LIST_FOREACH(c, &r->calls, link)
		if (due(c) <= now)
			go_on(c);
	for (c = LIST_FIRST(&r->calls); c != NULL; c = next) {
		next = LIST_NEXT(c, link);
		if (c->state != OVER)
			continue;
		LIST_REMOVE(c, link);
		free(c->key);
		free(c);
	}
}

void
calls_end(struct records *r)
{
	struct records_call *c;

	LIST_FOREACH(c, &r->calls, link)
		records_cancel(c);
	calls_step(r);
}
