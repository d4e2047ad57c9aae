/* SPDX-License-Identifier: ISC */
#include "fake.h"

#include <string.h>

static const char *const orders[] = { "NONE", "ASCEND", "DESCEND", NULL };
static const char *const targets[] = { "KEY", "VERSION", "CREATE", "MOD", "VALUE", NULL };

static void
read_range_op(struct reading *r, const json_t *o, struct op *op)
{
	op->limit = read_int(r, o, "limit");
	op->revision = read_int(r, o, "revision");
	op->order = read_enum(r, o, "sort_order", "RangeRequest_SortOrder", orders);
	op->target = read_enum(r, o, "sort_target", "RangeRequest_SortTarget", targets);
	op->keys_only = read_bool(r, o, "keys_only");
	op->count_only = read_bool(r, o, "count_only");
	op->min_mod = read_int(r, o, "min_mod_revision");
	op->max_mod = read_int(r, o, "max_mod_revision");
	op->min_create = read_int(r, o, "min_create_revision");
	op->max_create = read_int(r, o, "max_create_revision");
}

struct op
op_read(struct reading *r, enum op_kind kind, const json_t *o)
{
	struct op op = { .kind = kind };

	switch (kind) {
	case OP_NONE:
	case OP_EMPTY:
		break;
	case OP_RANGE:
		op.range = read_range(r, o);
		read_range_op(r, o, &op);
		break;
	case OP_PUT:
		op.range.from = read_bytes(r, o, "key");
		op.value = read_bytes(r, o, "value");
		op.lease = read_int(r, o, "lease");
		op.prev_kv = read_bool(r, o, "prev_kv");
		op.ignore_value = read_bool(r, o, "ignore_value");
		op.ignore_lease = read_bool(r, o, "ignore_lease");
		break;
	case OP_DELETE:
		op.range = read_range(r, o);
		op.prev_kv = read_bool(r, o, "prev_kv");
		break;
	}
	return op;
}

bool
op_makes_sense(const struct op *op, struct wrong *wrong)
{
	if (op->kind == OP_NONE)
		return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: key not found");
	if (op->kind == OP_EMPTY)
		return true;
	if (op->range.from.len == 0)
		return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: key is not provided");
	if (op->kind == OP_PUT && op->ignore_value && op->value.len > 0)
		return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: value is provided");
	if (op->kind == OP_PUT && op->ignore_lease && op->lease != 0)
		return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: lease is provided");
	return true;
}

bool
op_is_allowed(struct call *call, const struct op *op)
{
	return op->kind == OP_EMPTY || auth_may(call, &op->range);
}

static bool
range_can_be_done(const struct kv *kv, const struct op *op, struct wrong *wrong)
{
	if (op->revision > kv->revision)
		return wrong_is(wrong, OUT_OF_RANGE,
				"etcdserver: mvcc: required revision is a future revision");
	if (op->revision > 0 && op->revision < kv->compacted)
		return wrong_is(wrong, OUT_OF_RANGE,
				"etcdserver: mvcc: required revision has been compacted");
	return true;
}

static bool
put_can_be_done(const struct fake *fake, const struct op *op, struct wrong *wrong)
{
	if (op->lease != 0 && lease_find(&fake->leases, op->lease) == NULL)
		return wrong_is(wrong, NOT_FOUND, "etcdserver: requested lease not found");
	if ((op->ignore_value || op->ignore_lease) && kv_now(&fake->kv, op->range.from) == NULL)
		return wrong_is(wrong, BAD_ARGUMENT, "etcdserver: key not found");
	return true;
}

bool
op_can_be_done(const struct fake *fake, const struct op *op, struct wrong *wrong)
{
	if (op->kind == OP_RANGE)
		return range_can_be_done(&fake->kv, op, wrong);
	return op->kind != OP_PUT || put_can_be_done(fake, op, wrong);
}

static const struct key *
key_of(const struct kv *kv, const struct op *op)
{
	return kv->keys[kv_first(kv, &op->range)];
}

static void
put_do(struct fake *fake, const struct op *op, struct buf *out)
{
	const struct version *old = kv_now(&fake->kv, op->range.from);

	if (op->prev_kv && old != NULL) {
		buf_text(out, ",\"prev_kv\":");
		write_kv(out, key_of(&fake->kv, op), old, false);
	}
	kv_put(&fake->kv, op->range.from, op->ignore_value && old != NULL ? old->value : op->value,
	       op->ignore_lease && old != NULL ? old->lease : op->lease);
}

static void
delete_do(struct fake *fake, const struct op *op, struct buf *out)
{
	struct kv *kv = &fake->kv;
	struct buf prev = { 0 };
	int64_t deleted = 0;
	size_t i;

	for (i = kv_first(kv, &op->range); i < kv->count; i++) {
		const struct version *v = key_now(kv->keys[i]);

		if (!range_has(&op->range, kv->keys[i]->name))
			break;
		if (v == NULL)
			continue;
		buf_text(&prev, deleted++ > 0 ? "," : "");
		write_kv(&prev, kv->keys[i], v, false);
		kv_delete(kv, kv->keys[i]);
	}
	write_int(out, "deleted", deleted);
	if (op->prev_kv && deleted > 0)
		buf_printf(out, ",\"prev_kvs\":[%s]", prev.at);
	buf_free(&prev);
}

void
op_do(struct fake *fake, const struct op *op, struct buf *out)
{
	switch (op->kind) {
	case OP_NONE:
		break;
	case OP_EMPTY:
		buf_text(out, ",\"succeeded\":true");
		break;
	case OP_RANGE:
		range_do(fake, op, out);
		break;
	case OP_PUT:
		put_do(fake, op, out);
		break;
	case OP_DELETE:
		delete_do(fake, op, out);
		break;
	}
}

/* A call that is one operation. */
static bool
call_op(struct call *call, enum op_kind kind, struct buf *out)
{
	struct op op = op_read(&call->reading, kind, call->body);
	struct buf members = { 0 };

	if (call->wrong.code != 0 || !op_makes_sense(&op, &call->wrong) ||
	    !op_is_allowed(call, &op) || !op_can_be_done(call->fake, &op, &call->wrong))
		return false;
	op_do(call->fake, &op, &members);
	kv_commit(&call->fake->kv);
	write_header(out, call->fake);
	buf_add(out, members.at, members.len);
	buf_text(out, "}");
	buf_free(&members);
	return true;
}

bool
call_range(struct call *call, struct buf *out)
{
	return call_op(call, OP_RANGE, out);
}

bool
call_put(struct call *call, struct buf *out)
{
	return call_op(call, OP_PUT, out);
}

bool
call_delete(struct call *call, struct buf *out)
{
	return call_op(call, OP_DELETE, out);
}
