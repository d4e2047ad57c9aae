/* SPDX-License-Identifier: ISC */
/*
 * txn.c - the calls of records.h: transactions and leases.
 */
#include <stdlib.h>
#include <string.h>

#include "client.h"

static void
finish(struct records_call *c, struct records_answer *a)
{
	a->sent_ns = c->sent_ns;
	c->done(c->context, a);
}

static void
fail(struct records_call *c, const struct verdict *v)
{
	finish(c, &(struct records_answer){ .result = v->result, .text = v->words });
}

/* ---- transactions ---- */

#define OTHERWISE 8
#define KEYS_ONLY 16
#define OLDEST    32
#define BEFORE    64

/* As functions.sql wants it. */
static int
what(const struct txn_item *item)
{
	static const int kinds[] = {
		[IF_ABSENT] = 0, [IF_CREATED] = 1, [IF_CHANGED] = 2, [IF_NO_NEWS] = 3,
		[DO_GET] = 4,    [DO_PUT] = 5,     [DO_DELETE] = 6
	};

	return kinds[item->kind] | (item->part == TXN_OTHERWISE ? OTHERWISE : 0) |
	       (item->keys_only ? KEYS_ONLY : 0) | (item->oldest_first ? OLDEST : 0) |
	       (item->newest_before != 0 ? BEFORE : 0);
}

static int64_t
number(const struct txn_item *item)
{
	return item->kind == DO_PUT       ? item->lease
	       : item->newest_before != 0 ? item->newest_before
	       : item->kind == DO_GET     ? item->limit
					  : item->revision;
}

static struct args
txn_args(const struct txn *txn, bool writes, int64_t epoch)
{
	struct args a = writes ? args_of(epoch) : (struct args){ .n = 0 };
	size_t i;

	args_array(&a, ARGS_INT4, txn->n);
	for (i = 0; i < txn->n; i++)
		args_element_number(&a, ARGS_INT4, what(&txn->item[i]));
	args_array(&a, ARGS_BYTEA, txn->n);
	for (i = 0; i < txn->n; i++)
		args_element(&a, txn->item[i].key, strlen(txn->item[i].key));
	args_array(&a, ARGS_BYTEA, txn->n);
	for (i = 0; i < txn->n; i++)
		args_element_end(&a, txn->item[i].key, txn->item[i].end);
	args_array(&a, ARGS_INT8, txn->n);
	for (i = 0; i < txn->n; i++)
		args_element_number(&a, ARGS_INT8, number(&txn->item[i]));
	if (!writes)
		return a;
	args_array(&a, ARGS_BYTEA, txn->n);
	for (i = 0; i < txn->n; i++)
		args_element(&a, txn->item[i].value, txn->item[i].size);
	return a;
}

/* A row is a record of a get, or how many records a delete had. */
static void
add_row(struct records_found *f, struct record_kv *kv, const PGresult *result, int row)
{
	f->count = (uint64_t)answer_number(result, row, N);
	if (PQgetisnull(result, row, KEY))
		return;
	if (f->n++ == 0)
		f->kv = kv;
	answer_kv(kv, result, row);
}

static void
txn_answered(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	struct records_answer a = { .n = 0 };
	struct records_found *found;
	struct record_kv *kv;
	int last, row;
	size_t op;

	if (result == NULL) {
		fail(c, v);
		return;
	}
	last = PQntuples(result) - 1;
	a.held = answer_number(result, last, FLAG) != 0;
	a.revision = answer_number(result, last, REVISION);
	a.n = a.held ? c->then : c->otherwise;
	a.found = found = calloc(a.n + 1, sizeof(*found));
	kv = calloc((size_t)last + 1, sizeof(*kv));
	for (row = 0; found != NULL && kv != NULL && row < last; row++) {
		op = (size_t)answer_number(result, row, OP) - 1;
		if (op < a.n)
			add_row(&found[op], &kv[row], result, row);
	}
	if (answer_number(result, last, SAYS) != 0)
		watches_woken(c->records);
	if (found != NULL && kv != NULL)
		finish(c, &a);
	else
		fail(c, &(struct verdict){ .result = RECORDS_AWAY, .words = "no memory is left" });
	free(kv);
	free(found);
}

struct records_call *
records_txn(struct records *r, struct txn *txn, unsigned timeout_ms, records_done *done,
	    void *context)
{
	size_t n[TXN_PARTS] = { 0 }, i;
	struct records_call *c = NULL;
	bool writes = false;

	if (txn != NULL && !txn->failed) {
		for (i = 0; i < txn->n; i++) {
			n[txn->item[i].part]++;
			writes |= txn->item[i].kind == DO_PUT || txn->item[i].kind == DO_DELETE;
		}
		c = call_begin(r, writes ? "txn" : "look", txn_args(txn, writes, r->epoch),
			       timeout_ms, txn_answered, context);
	}
	if (c != NULL) {
		c->done = done;
		c->then = n[TXN_THEN];
		c->otherwise = n[TXN_OTHERWISE];
	}
	txn_free(txn);
	return c;
}

/* ---- leases ---- */

static void
lease_answered(struct records_call *c, const PGresult *result, const struct verdict *v)
{
	if (result == NULL) {
		fail(c, v);
		return;
	}
	if (answer_number(result, 0, SAYS) != 0)
		watches_woken(c->records);
	finish(c, &(struct records_answer){ .revision = answer_number(result, 0, REVISION),
					    .alive = answer_number(result, 0, FLAG) != 0 });
}

static struct records_call *
call(struct records *r, const char *function, struct args args, unsigned timeout_ms,
     records_done *done, void *context)
{
	struct records_call *c = call_begin(r, function, args, timeout_ms, lease_answered, context);

	if (c != NULL)
		c->done = done;
	return c;
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	struct args a = args_of(id);

	args_number(&a, ttl_s);
	return call(r, "grant_lease", a, timeout_ms, done, context);
}

struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return call(r, "renew_lease", args_of(id), timeout_ms, done, context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return call(r, "end_lease", args_of(id), timeout_ms, done, context);
}
