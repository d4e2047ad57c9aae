/* SPDX-License-Identifier: ISC */
/*
 * request.c - what etcd is asked: see messages.h.  The numbers of the fields are those of etcd's rpc.proto.
 *
 * etcd 3.2 ignores the end of a compare's range.  It would compare one key, and write what must not be
 * written.  So a transaction that writes, and has such a compare, also has an empty transaction among
 * what is done otherwise.  Releases before 3.3 know no transaction within another, and refuse the
 * whole.  One that only reads has none: etcd would take it for one that writes.
 */
#include "messages.h"

enum { EQUAL = 0, LESS = 2 };                        /* Compare.result */
enum { CREATED = 1, CHANGED = 2 };                   /* Compare.target */
enum { ASCEND = 1, DESCEND = 2 };                    /* RangeRequest.sort_order */
enum { NO_PUT = 0 };                                 /* WatchCreateRequest.filters */
enum { RANGE = 1, PUT = 2, DELETE = 3, NESTED = 4 }; /* RequestOp */

static void
add_compare(struct wire_out *w, const struct txn_item *item)
{
	bool changed = item->kind == IF_CHANGED || item->kind == IF_NO_NEWS;
	bool news = item->kind == IF_NO_NEWS;
	size_t begun = wire_begin(w, 1);

	wire_number(w, 1, news ? LESS : EQUAL);
	wire_number(w, 2, changed ? CHANGED : CREATED);
	wire_text(w, 3, item->key);
	wire_number(w, changed ? 6 : 5, item->revision + news);
	wire_text(w, 64, item->end);
	wire_end(w, begun);
}

/* Its first record is created in revision 2, so the bound is never 0, which would be none. */
static void
add_get(struct wire_out *w, const struct txn_item *item)
{
	bool newest = item->newest_before != 0;
	uint32_t limit = newest ? 1 : item->limit;

	if (limit != 0)
		wire_number(w, 3, limit);
	if (item->oldest_first || newest) {
		wire_number(w, 5, newest ? DESCEND : ASCEND);
		wire_number(w, 6, CREATED + 1);
	}
	if (item->keys_only)
		wire_number(w, 8, 1);
	if (newest)
		wire_number(w, 13, item->newest_before - 1);
}

static void
add_operation(struct wire_out *w, const struct txn_item *item)
{
	bool get = item->kind == DO_GET, put = item->kind == DO_PUT;
	size_t outer = wire_begin(w, item->part == TXN_THEN ? 2 : 3);
	size_t inner = wire_begin(w, get ? RANGE : put ? PUT : DELETE);

	wire_text(w, 1, item->key);
	wire_text(w, 2, item->end);
	if (get)
		add_get(w, item);
	if (put)
		wire_bytes(w, 2, item->value, item->size);
	if (put && item->lease != 0)
		wire_number(w, 3, item->lease);
	wire_end(w, inner);
	wire_end(w, outer);
}

void
request_txn(struct wire_out *w, const struct txn *txn)
{
	size_t begun = w->n, i;
	bool ranges = false, writes = false;

	for (i = 0; i < txn->n; i++) {
		if (txn->item[i].part == TXN_IF) {
			add_compare(w, &txn->item[i]);
			ranges = ranges || txn->item[i].end != NULL;
		} else {
			add_operation(w, &txn->item[i]);
			writes = writes || txn->item[i].kind != DO_GET;
		}
	}
	if (ranges && writes) {
		size_t outer = wire_begin(w, 3), inner = wire_begin(w, NESTED);

		wire_end(w, inner);
		wire_end(w, outer);
	}
	wire_frame(w, begun);
}

void
request_lease(struct wire_out *w, int64_t id, uint32_t ttl_s)
{
	size_t begun = w->n;

	if (ttl_s != 0)
		wire_number(w, 1, ttl_s);
	wire_number(w, ttl_s != 0 ? 2 : 1, id);
	wire_frame(w, begun);
}

void
request_token(struct wire_out *w, const char *user, const char *password)
{
	size_t begun = w->n;

	wire_text(w, 1, user);
	wire_text(w, 2, password);
	wire_frame(w, begun);
}

void
request_watch(struct wire_out *w, int64_t id, const struct records_range *range, int64_t from)
{
	size_t begun = w->n, create = wire_begin(w, 1);

	wire_text(w, 1, range->key);
	wire_text(w, 2, range->end);
	if (from != 0)
		wire_number(w, 3, from);
	if (range->no_put)
		wire_number(w, 5, NO_PUT);
	wire_number(w, 7, id);
	wire_end(w, create);
	wire_frame(w, begun);
}

void
request_unwatch(struct wire_out *w, int64_t id)
{
	size_t begun = w->n, cancel = wire_begin(w, 2);

	wire_number(w, 1, id);
	wire_end(w, cancel);
	wire_frame(w, begun);
}
