/* SPDX-License-Identifier: ISC */
/*
 * differ_random.c - calls that meet one another: few keys, few leases, revisions near to now.
 *
 * Never sent, as etcd 3.4 panics of it: a txn that puts without a value or lease of its own
 * together with a delete without an end.
 */
#include "differ.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static unsigned
roll(struct dice *d, unsigned sides)
{
	d->state ^= d->state << 13;
	d->state ^= d->state >> 7;
	d->state ^= d->state << 17;
	return (unsigned)((d->state >> 11) % sides);
}

static bool
one_in(struct dice *d, unsigned sides)
{
	return roll(d, sides) == 0;
}

static void
add_bytes(struct buf *b, const char *name, const char *text, size_t len)
{
	buf_printf(b, "\"%s\":\"", name);
	buf_base64(b, (struct bytes){ text, len });
	buf_text(b, "\"");
}

static void
add_key(struct dice *d, struct buf *b)
{
	char key[3] = { 'k', (char)('a' + roll(d, 8)), '\0' };

	if (one_in(d, 60))
		buf_text(b, "\"key\":\"\"");
	else
		add_bytes(b, "key", key, one_in(d, 8) ? 1 : 2);
}

/* A key, or two: most of all, all of ours. */
static void
add_range(struct dice *d, struct buf *b, bool open)
{
	char end[3] = { 'k', (char)('a' + roll(d, 9)), '\0' };

	add_key(d, b);
	if (!one_in(d, 3))
		return;
	buf_text(b, ",");
	if (open && one_in(d, 5))
		add_bytes(b, "range_end", "\0", 1);
	else if (one_in(d, 2))
		add_bytes(b, "range_end", "l", 1);
	else
		add_bytes(b, "range_end", end, 2);
}

static int64_t
some_revision(struct dice *d)
{
	int64_t n = d->revision + 1 - roll(d, 12);

	return n < 0 ? 0 : n;
}

/* Numbers are strings, or are not. */
static void
add_number(struct dice *d, struct buf *b, const char *name, int64_t n)
{
	buf_printf(b, one_in(d, 2) ? ",\"%s\":%" PRId64 : ",\"%s\":\"%" PRId64 "\"", name, n);
}

static int64_t
some_lease(struct dice *d)
{
	return 101 + roll(d, 5);
}

static void
add_flag(struct dice *d, struct buf *b, const char *name, unsigned rarity)
{
	if (one_in(d, rarity))
		buf_printf(b, ",\"%s\":%s", name, one_in(d, 5) ? "false" : "true");
}

static void
add_put(struct dice *d, struct buf *b, bool alone)
{
	static const char values[] = "value";

	buf_text(b, "{");
	add_key(d, b);
	if (!one_in(d, 4)) {
		buf_text(b, ",");
		add_bytes(b, "value", values, roll(d, 6));
	}
	if (one_in(d, 3))
		add_number(d, b, "lease", some_lease(d));
	add_flag(d, b, "prev_kv", 3);
	if (alone) {
		add_flag(d, b, "ignore_value", 10);
		add_flag(d, b, "ignore_lease", 10);
	}
	buf_text(b, "}");
}

static void
add_read(struct dice *d, struct buf *b)
{
	static const char *const orders[] = { "NONE", "ASCEND", "DESCEND" };
	static const char *const targets[] = { "KEY", "VERSION", "CREATE", "MOD", "VALUE" };
	static const char *const bounds[] = { "min_create_revision", "max_create_revision",
					      "min_mod_revision", "max_mod_revision" };
	unsigned i;

	buf_text(b, "{");
	add_range(d, b, true);
	if (one_in(d, 3))
		add_number(d, b, "limit", roll(d, 5));
	if (one_in(d, 3))
		buf_printf(b, ",\"sort_order\":\"%s\"", orders[roll(d, 3)]);
	if (one_in(d, 3))
		buf_printf(b, ",\"sort_target\":\"%s\"", targets[roll(d, 5)]);
	if (one_in(d, 4))
		add_number(d, b, "revision", some_revision(d));
	add_flag(d, b, "keys_only", 5);
	add_flag(d, b, "count_only", 8);
	add_flag(d, b, "serializable", 8);
	for (i = 0; i < 4; i++) {
		if (one_in(d, 8))
			add_number(d, b, bounds[i], some_revision(d));
	}
	buf_text(b, "}");
}

static void
add_delete(struct dice *d, struct buf *b, bool alone)
{
	buf_text(b, "{");
	add_range(d, b, alone);
	add_flag(d, b, "prev_kv", 3);
	buf_text(b, "}");
}

static void
add_compare(struct dice *d, struct buf *b)
{
	static const char *const targets[] = { "VERSION", "CREATE", "MOD", "VALUE", "LEASE" };
	static const char *const members[] = { "version", "create_revision", "mod_revision",
					       "value", "lease" };
	static const char *const results[] = { "EQUAL", "GREATER", "LESS", "NOT_EQUAL" };
	unsigned target = roll(d, 5);

	buf_text(b, "{");
	add_range(d, b, true);
	buf_printf(b, ",\"target\":\"%s\"", targets[target]);
	if (!one_in(d, 4))
		buf_printf(b, ",\"result\":\"%s\"", results[roll(d, 4)]);
	if (target == 3) {
		buf_text(b, ",");
		add_bytes(b, "value", "value", roll(d, 6));
	} else if (!one_in(d, 5)) {
		add_number(d, b, members[target],
			   one_in(d, 3)  ? 0
			   : target == 0 ? 1 + roll(d, 3)
			   : target == 4 ? some_lease(d)
					 : some_revision(d));
	}
	buf_text(b, "}");
}

static void
add_op(struct dice *d, struct buf *b)
{
	switch (roll(d, 5)) {
	case 0:
	case 1:
		buf_text(b, "{\"request_put\":");
		add_put(d, b, false);
		break;
	case 2:
	case 3:
		buf_text(b, "{\"request_range\":");
		add_read(d, b);
		break;
	default:
		buf_text(b, "{\"request_delete_range\":");
		add_delete(d, b, false);
	}
	buf_text(b, "}");
}

static void
add_list(struct dice *d, struct buf *b, const char *name, unsigned most,
	 void (*add)(struct dice *d, struct buf *b))
{
	unsigned i, n = roll(d, most + 1);

	buf_printf(b, "\"%s\":[", name);
	for (i = 0; i < n; i++) {
		buf_text(b, i > 0 ? "," : "");
		add(d, b);
	}
	buf_text(b, "]");
}

static void
add_txn(struct dice *d, struct buf *b)
{
	buf_text(b, "{");
	add_list(d, b, "compare", 3, add_compare);
	buf_text(b, ",");
	add_list(d, b, "success", 4, add_op);
	buf_text(b, ",");
	add_list(d, b, "failure", 4, add_op);
	buf_text(b, "}");
}

/* Times that are too long to matter. */
static const char *
lease_call(struct dice *d, struct buf *b)
{
	static const char *const paths[] = { "/v3/lease/grant",      "/v3/lease/grant",
					     "/v3/lease/keepalive",  "/v3/lease/revoke",
					     "/v3/lease/timetolive", "/v3/lease/leases" };
	unsigned i = roll(d, 6);

	buf_text(b, "{\"x\":0");
	if (i < 5)
		add_number(d, b, "ID", some_lease(d));
	if (i < 2)
		add_number(d, b, "TTL", 1000);
	if (i == 4)
		add_flag(d, b, "keys", 2);
	buf_text(b, "}");
	return paths[i];
}

/* What is no call, or no JSON. */
static const char *
odd_call(struct dice *d, struct buf *b)
{
	static const char *const odd[][2] = {
		{ "/v3/kv/range", "[]" },
		{ "/v3/kv/range", "garbage" },
		{ "/v3/kv/range", "" },
		{ "/v3/kv/range", "{\"key\":\"a2E\"}" },
		{ "/v3/kv/range", "{\"key\":7}" },
		{ "/v3/kv/put", "{\"key\":\"a2E=\",\"lease\":\"1x\"}" },
		{ "/v3/kv/put", "{\"key\":\"a2E=\",\"prev_kv\":\"true\"}" },
		{ "/v3/kv/range", "{\"key\":\"a2E=\",\"sort_order\":\"FOO\"}" },
		{ "/v3/kv/nothing", "{}" },
		{ "/v3/lease/keepalive", "{\"ID\":\"101\"}{\"ID\":\"9\"}" },
		{ "/v3/lease/keepalive", "x" },
		{ "/v3/kv/txn", "{\"success\":[{}]}" },
		{ "/v3/auth/authenticate", "{\"name\":\"a\",\"password\":\"b\"}" },
		{ "/nothing", "{}" },
		{ "/v3", "{}" },
	};
	unsigned i = roll(d, sizeof(odd) / sizeof(odd[0]));

	buf_text(b, odd[i][1]);
	return odd[i][0];
}

const char *
dice_call(struct dice *d, struct buf *body)
{
	unsigned n = roll(d, 100);

	body->len = 0;
	if (n < 25) {
		add_put(d, body, true);
		return "/v3/kv/put";
	}
	if (n < 45) {
		add_read(d, body);
		return "/v3/kv/range";
	}
	if (n < 55) {
		add_delete(d, body, true);
		return "/v3/kv/deleterange";
	}
	if (n < 80) {
		add_txn(d, body);
		return "/v3/kv/txn";
	}
	if (n < 95)
		return lease_call(d, body);
	if (n < 97) {
		/* physical: a deletion at that very revision is forgotten by the answer, not some time later. */
		buf_text(body, "{\"physical\":true");
		add_number(d, body, "revision", d->revision + 1 - roll(d, 20));
		buf_text(body, "}");
		return "/v3/kv/compaction";
	}
	return odd_call(d, body);
}

void
dice_watch(struct dice *d, struct buf *body, bool past)
{
	buf_text(body, "{\"create_request\":{");
	add_range(d, body, true);
	if (past && !one_in(d, 3))
		add_number(d, body, "start_revision", some_revision(d));
	if (one_in(d, 3))
		buf_printf(body, ",\"filters\":[\"%s\"]", one_in(d, 2) ? "NOPUT" : "NODELETE");
	add_flag(d, body, "prev_kv", 2);
	buf_text(body, "}}");
}
