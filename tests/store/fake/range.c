/* SPDX-License-Identifier: ISC */
/*
 * range.c - a read, with etcd's order of things: a limit counts before the sorting where no
 * order was asked for; what the revisions leave out is in the count all the same.
 */
#include "fake.h"

#include <stdlib.h>

struct found {
	const struct key *key;
	const struct version *version;
	size_t place; /* what is equal stays in the order of the keys */
	int target;
};

enum { BY_KEY, BY_VERSION, BY_CREATE, BY_MOD, BY_VALUE };
enum { NONE, ASCEND, DESCEND };

static int
compare_ints(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int
compare(const struct found *a, const struct found *b)
{
	switch (a->target) {
	case BY_VERSION:
		return compare_ints(a->version->version, b->version->version);
	case BY_CREATE:
		return compare_ints(a->version->create, b->version->create);
	case BY_MOD:
		return compare_ints(a->version->mod, b->version->mod);
	case BY_VALUE:
		return bytes_compare(a->version->value, b->version->value);
	}
	return bytes_compare(a->key->name, b->key->name);
}

static int
upwards(const void *x, const void *y)
{
	const struct found *a = x, *b = y;
	int c = compare(a, b);

	return c != 0 ? c : compare_ints((int64_t)a->place, (int64_t)b->place);
}

static int
downwards(const void *x, const void *y)
{
	const struct found *a = x, *b = y;
	int c = compare(b, a);

	return c != 0 ? c : compare_ints((int64_t)a->place, (int64_t)b->place);
}

/* All that is there; the caller frees it. */
static struct found *
find(const struct kv *kv, const struct op *op, size_t *count)
{
	int64_t revision = op->revision > 0 ? op->revision : INT64_MAX;
	struct found *found = NULL;
	size_t i, room = 0, n = 0;

	for (i = kv_first(kv, &op->range); i < kv->count; i++) {
		const struct version *v = key_at(kv->keys[i], revision);

		if (!range_has(&op->range, kv->keys[i]->name))
			break;
		if (v == NULL)
			continue;
		if (n == room) {
			room = 2 * room + 16;
			found = must_grow(found, room, sizeof(*found));
		}
		found[n] = (struct found){ kv->keys[i], v, n, op->target };
		n++;
	}
	*count = n;
	return found;
}

static bool
has_bounds(const struct op *op)
{
	return op->min_mod != 0 || op->max_mod != 0 || op->min_create != 0 || op->max_create != 0;
}

static bool
is_within(const struct op *op, const struct version *v)
{
	return (op->min_mod == 0 || v->mod >= op->min_mod) &&
	       (op->max_mod == 0 || v->mod <= op->max_mod) &&
	       (op->min_create == 0 || v->create >= op->min_create) &&
	       (op->max_create == 0 || v->create <= op->max_create);
}

/* What of them is to be shown, in order; returns how many. */
static size_t
choose(const struct op *op, struct found *found, size_t count)
{
	int order = op->order == NONE && op->target != BY_KEY ? ASCEND : op->order;
	size_t i, n = 0;

	if (op->order == NONE && !has_bounds(op) && op->limit > 0 && count > (size_t)op->limit + 1)
		count = (size_t)op->limit + 1;
	for (i = 0; i < count; i++) {
		if (is_within(op, found[i].version))
			found[n++] = found[i];
	}
	if (order != NONE && n > 1)
		qsort(found, n, sizeof(*found), order == DESCEND ? downwards : upwards);
	return n;
}

void
range_do(const struct fake *fake, const struct op *op, struct buf *out)
{
	size_t count, shown, i;
	struct found *found = find(&fake->kv, op, &count);
	bool more;

	shown = op->count_only || found == NULL ? 0 : choose(op, found, count);
	more = op->limit > 0 && shown > (size_t)op->limit;
	if (more)
		shown = (size_t)op->limit;
	for (i = 0; i < shown && found != NULL; i++) {
		buf_text(out, i == 0 ? ",\"kvs\":[" : ",");
		write_kv(out, found[i].key, found[i].version, op->keys_only);
	}
	if (shown > 0)
		buf_text(out, "]");
	if (more)
		buf_text(out, ",\"more\":true");
	write_int(out, "count", (int64_t)count);
	free(found);
}
