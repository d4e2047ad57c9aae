/* SPDX-License-Identifier: ISC */
/*
 * txn.c - see txn.h.
 */
#include "txn.h"

#include <stdlib.h>
#include <string.h>

/* gcc 12 loses sight of what add() keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

struct txn *
txn_new(void)
{
	struct txn *x = calloc(1, sizeof(*x));

	if (x != NULL)
		x->part = TXN_THEN;
	return x;
}

void
txn_free(struct txn *x)
{
	size_t i;

	if (x == NULL)
		return;
	for (i = 0; i < x->n; i++) {
		free(x->item[i].key);
		free(x->item[i].end);
		free(x->item[i].value);
	}
	free(x->item);
	free(x);
}

/* Into TXN_IF, or else the part begun last.  NULL for want of memory, which the transaction remembers. */
static struct txn_item *
add(struct txn *x, enum txn_kind kind, const char *key, const char *end, int64_t revision)
{
	struct txn_item *item;

	if (x == NULL || x->failed)
		return NULL;
	if (x->n == x->room) {
		size_t room = x->room == 0 ? 16 : x->room * 2;
		item = reallocarray(x->item, room, sizeof(*item));
		if (item == NULL) {
			x->failed = true;
			return NULL;
		}
		x->item = item;
		x->room = room;
	}
	item = &x->item[x->n++];
	*item = (struct txn_item){ .part = kind < DO_GET ? TXN_IF : x->part,
				   .kind = kind,
				   .key = strdup(key),
				   .end = end == NULL ? NULL : strdup(end),
				   .revision = revision };
	x->failed = item->key == NULL || (item->end == NULL) != (end == NULL);
	return x->failed ? NULL : item;
}

void
txn_if_absent(struct txn *x, const char *key, const char *end)
{
	add(x, IF_ABSENT, key, end, 0);
}

void
txn_if_created(struct txn *x, const char *key, int64_t revision)
{
	add(x, IF_CREATED, key, NULL, revision);
}

void
txn_if_changed(struct txn *x, const char *key, int64_t revision)
{
	add(x, IF_CHANGED, key, NULL, revision);
}

void
txn_if_no_news(struct txn *x, const char *key, const char *end, int64_t revision)
{
	add(x, IF_NO_NEWS, key, end, revision);
}

void
txn_otherwise(struct txn *x)
{
	if (x != NULL)
		x->part = TXN_OTHERWISE;
}

struct txn_item *
txn_get(struct txn *x, const char *key, const char *end)
{
	static _Thread_local struct txn_item nowhere;
	struct txn_item *item = add(x, DO_GET, key, end, 0);

	return item != NULL ? item : &nowhere;
}

void
txn_put(struct txn *x, const char *key, const char *value, size_t size, int64_t lease)
{
	struct txn_item *item = add(x, DO_PUT, key, NULL, 0);

	if (item == NULL)
		return;
	item->lease = lease;
	item->size = size;
	if ((item->value = malloc(size + 1)) == NULL) {
		x->failed = true;
		return;
	}
	memcpy(item->value, value, size);
	item->value[size] = '\0';
}

void
txn_delete(struct txn *x, const char *key, const char *end)
{
	add(x, DO_DELETE, key, end, 0);
}
