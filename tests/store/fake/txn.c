/* SPDX-License-Identifier: ISC */
/*
 * txn.c - a transaction: what is compared, and what is done then.  Everything is looked
 * through before anything is done.  Of transactions within transactions, only empty ones are known.
 */
#include "fake.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 128 };
enum { EQUAL, GREATER, LESS, NOT_EQUAL };
enum { OF_VERSION, OF_CREATE, OF_MOD, OF_VALUE, OF_LEASE };

static const char *const results[] = { "EQUAL", "GREATER", "LESS", "NOT_EQUAL", NULL };
static const char *const subjects[] = { "VERSION", "CREATE", "MOD", "VALUE", "LEASE", NULL };

struct compare {
	struct range range;
	int subject, result;
	int64_t number;
	struct bytes value;
};

struct branch {
	struct op ops[MOST];
	size_t count;
};

struct txn {
	struct compare compares[MOST];
	size_t count;
	struct branch success, failure;
};

static struct compare
read_compare(struct reading *r, const json_t *o)
{
	static const char *const members[] = { "version", "create_revision", "mod_revision", NULL,
					       "lease" };
	struct compare c = { .range = read_range(r, o) };

	c.result = read_enum(r, o, "result", "Compare_CompareResult", results);
	c.subject = read_enum(r, o, "target", "Compare_CompareTarget", subjects);
	if (c.subject == OF_VALUE)
		c.value = read_bytes(r, o, "value");
	else if (c.subject >= OF_VERSION && c.subject <= OF_LEASE)
		c.number = read_int(r, o, members[c.subject]);
	return c;
}

static struct op
read_op(struct reading *r, const json_t *o)
{
	const json_t *inner;

	if ((inner = read_member(o, "request_range")) != NULL)
		return op_read(r, OP_RANGE, inner);
	if ((inner = read_member(o, "request_put")) != NULL)
		return op_read(r, OP_PUT, inner);
	if ((inner = read_member(o, "request_delete_range")) != NULL)
		return op_read(r, OP_DELETE, inner);
	inner = read_member(o, "request_txn");
	if (inner != NULL && json_object_size(inner) == 0)
		return (struct op){ .kind = OP_EMPTY };
	if (inner != NULL)
		wrong_is(r->wrong, UNIMPLEMENTED, "fake etcd: a txn within a txn");
	return (struct op){ .kind = OP_NONE };
}

static bool
is_too_long(struct wrong *wrong, const json_t *list)
{
	if (json_array_size(list) <= MOST)
		return false;
	wrong_is(wrong, BAD_ARGUMENT, "etcdserver: too many operations in txn request");
	return true;
}

static void
read_branch(struct reading *r, const json_t *list, struct branch *b)
{
	for (b->count = 0; b->count < json_array_size(list); b->count++)
		b->ops[b->count] = read_op(r, json_array_get(list, b->count));
}

static bool
read_txn(struct call *call, struct txn *txn)
{
	const json_t *compare = read_member(call->body, "compare");
	const json_t *success = read_member(call->body, "success");
	const json_t *failure = read_member(call->body, "failure");

	if (is_too_long(&call->wrong, compare) || is_too_long(&call->wrong, success) ||
	    is_too_long(&call->wrong, failure))
		return false;
	for (txn->count = 0; txn->count < json_array_size(compare); txn->count++)
		txn->compares[txn->count] =
		    read_compare(&call->reading, json_array_get(compare, txn->count));
	read_branch(&call->reading, success, &txn->success);
	read_branch(&call->reading, failure, &txn->failure);
	return call->wrong.code == 0;
}

/* No key is written twice. */
static bool
touches_once(const struct branch *b, struct wrong *wrong)
{
	size_t i, j;

	for (i = 0; i < b->count; i++) {
		if (b->ops[i].kind != OP_PUT)
			continue;
		for (j = 0; j < b->count; j++) {
			const struct op *o = &b->ops[j];

			if (j != i && (o->kind == OP_PUT || o->kind == OP_DELETE) &&
			    range_has(&o->range, b->ops[i].range.from))
				return wrong_is(wrong, BAD_ARGUMENT,
						"etcdserver: duplicate key given in txn request");
		}
	}
	return true;
}

static bool
branch_makes_sense(const struct branch *b, struct wrong *wrong)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (!op_makes_sense(&b->ops[i], wrong))
			return false;
	}
	return true;
}

static bool
makes_sense(const struct txn *txn, struct wrong *wrong)
{
	size_t i;

	for (i = 0; i < txn->count; i++) {
		if (txn->compares[i].range.from.len == 0)
			return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: key is not provided");
	}
	return branch_makes_sense(&txn->success, wrong) &&
	       branch_makes_sense(&txn->failure, wrong) && touches_once(&txn->success, wrong) &&
	       touches_once(&txn->failure, wrong);
}

static bool
branch_is_allowed(struct call *call, const struct branch *b)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		if (!op_is_allowed(call, &b->ops[i]))
			return false;
	}
	return true;
}

static bool
is_allowed(struct call *call, const struct txn *txn)
{
	size_t i;

	if (!auth_is_user(call))
		return false;
	for (i = 0; i < txn->count; i++) {
		if (!auth_may(call, &txn->compares[i].range))
			return false;
	}
	return branch_is_allowed(call, &txn->success) && branch_is_allowed(call, &txn->failure);
}

static bool
one_holds(const struct compare *c, const struct version *v)
{
	int64_t n = 0;
	int is;

	switch (c->subject) {
	case OF_VERSION:
		n = v->version;
		break;
	case OF_CREATE:
		n = v->create;
		break;
	case OF_MOD:
		n = v->mod;
		break;
	case OF_LEASE:
		n = v->lease;
		break;
	}
	is = c->subject == OF_VALUE ? bytes_compare(v->value, c->value)
				    : (n > c->number) - (n < c->number);
	switch (c->result) {
	case EQUAL:
		return is == 0;
	case GREATER:
		return is > 0;
	case LESS:
		return is < 0;
	case NOT_EQUAL:
		return is != 0;
	}
	return true;
}

/* Of every key of the range; where there is none, of a key that is all zero, which has no value
 * that could be compared. */
static bool
holds(const struct kv *kv, const struct compare *c)
{
	static const struct version none;
	bool any = false;
	size_t i;

	for (i = kv_first(kv, &c->range); i < kv->count; i++) {
		const struct version *v = key_now(kv->keys[i]);

		if (!range_has(&c->range, kv->keys[i]->name))
			break;
		if (v != NULL && !one_holds(c, v))
			return false;
		any = any || v != NULL;
	}
	return any || (c->subject != OF_VALUE && one_holds(c, &none));
}

/* Of all the puts, or of all the rest: etcd looks at the puts first. */
static bool
can_be_done(struct call *call, const struct branch *b, bool puts)
{
	size_t i;

	for (i = 0; i < b->count; i++) {
		if ((b->ops[i].kind == OP_PUT) == puts &&
		    !op_can_be_done(call->fake, &b->ops[i], &call->wrong))
			return false;
	}
	return true;
}

static void
do_one(struct fake *fake, const struct op *op, struct buf *out)
{
	static const char *const names[] = { "", "range", "put", "delete_range", "txn" };
	struct buf members = { 0 };

	op_do(fake, op, &members);
	buf_printf(out, "{\"response_%s\":{\"header\":{\"revision\":\"%" PRId64 "\"}",
		   names[op->kind], fake->kv.revision + kv_changed(&fake->kv));
	buf_add(out, members.at, members.len);
	buf_text(out, "}}");
	buf_free(&members);
}

static bool
do_txn(struct call *call, const struct txn *txn, struct buf *out)
{
	struct kv *kv = &call->fake->kv;
	struct buf responses = { 0 };
	const struct branch *b;
	bool succeeded = true;
	size_t i;

	for (i = 0; i < txn->count && succeeded; i++)
		succeeded = holds(kv, &txn->compares[i]);
	b = succeeded ? &txn->success : &txn->failure;
	if (!can_be_done(call, b, true) || !can_be_done(call, b, false))
		return false;
	for (i = 0; i < b->count; i++) {
		buf_text(&responses, i == 0 ? ",\"responses\":[" : ",");
		do_one(call->fake, &b->ops[i], &responses);
	}
	kv_commit(kv);
	write_header(out, call->fake);
	if (succeeded)
		buf_text(out, ",\"succeeded\":true");
	buf_add(out, responses.at, responses.len);
	buf_text(out, b->count > 0 ? "]}" : "}");
	buf_free(&responses);
	return true;
}

bool
call_txn(struct call *call, struct buf *out)
{
	struct txn *txn = must_make(sizeof(*txn));
	bool done = read_txn(call, txn) && makes_sense(txn, &call->wrong) &&
		    is_allowed(call, txn) && do_txn(call, txn, out);

	free(txn);
	return done;
}
