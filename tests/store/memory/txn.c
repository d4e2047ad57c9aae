/* SPDX-License-Identifier: ISC */
/*
 * txn.c - a transaction of the store in memory: compares, then does one of its two parts.
 */
#include <stdlib.h>
#include <string.h>

#include "inside.h"

/* ---- ranges ---- */

/* The records [from, end) of the map. */
struct span {
	size_t from, end;
};

static struct span
span_of(const struct memory *m, const struct txn_item *item)
{
	struct span s = { .from = memory_from(m, item->key) };

	if (item->end != NULL)
		s.end = memory_from(m, item->end);
	else
		s.end = s.from + (memory_find(m, item->key) != NULL);
	return s;
}

/* ---- compares ---- */

static bool
holds(const struct memory *m, const struct txn_item *item)
{
	struct span s = span_of(m, item);
	const struct memory_record *r = s.from < s.end ? memory_at(m, s.from) : NULL;

	switch (item->kind) {
	case IF_ABSENT:
		return r == NULL;
	case IF_CREATED:
		return (r == NULL ? 0 : r->kv.created) == item->revision;
	case IF_CHANGED:
		return (r == NULL ? 0 : r->kv.changed) == item->revision;
	case IF_NO_NEWS:
		for (; s.from < s.end; s.from++)
			if (memory_at(m, s.from)->kv.changed > item->revision)
				return false;
		return true;
	default:
		return false;
	}
}

/* ---- what is refused ---- */

static bool
is_in(const char *key, const struct txn_item *item)
{
	return item->end == NULL ? strcmp(key, item->key) == 0
				 : strcmp(key, item->key) >= 0 && strcmp(key, item->end) < 0;
}

/* A transaction changes a key once at most. */
static bool
clashes(const struct txn *txn, size_t i, enum txn_part part)
{
	const struct txn_item *a = &txn->item[i], *b;
	size_t j;

	if (a->kind != DO_PUT)
		return false;
	for (j = 0; j < txn->n; j++) {
		b = &txn->item[j];
		if (j != i && b->part == part && b->kind != DO_GET && is_in(a->key, b))
			return true;
	}
	return false;
}

/* How many items a part has. */
static size_t
count_of(const struct txn *txn, enum txn_part part)
{
	size_t i, n = 0;

	for (i = 0; i < txn->n; i++)
		n += txn->item[i].part == part;
	return n;
}

/* NULL: nothing is wrong with it. */
static struct memory_answer *
refusal(const struct memory *m, const struct txn *txn, enum txn_part part)
{
	size_t i;

	for (i = 0; i < TXN_PARTS; i++)
		if (count_of(txn, (enum txn_part)i) > MEMORY_OPERATIONS)
			return memory_answer_of(RECORDS_WRONG, "memory: too many operations");
	for (i = 0; i < txn->n; i++) {
		const struct txn_item *item = &txn->item[i];

		if (item->part != part || item->kind != DO_PUT)
			continue;
		if (item->size > MEMORY_VALUE)
			return memory_answer_of(RECORDS_WRONG, "memory: the value is too large");
		if (clashes(txn, i, part))
			return memory_answer_of(RECORDS_WRONG, "memory: duplicate key in txn");
		if (item->lease != 0 && lease_find(m, item->lease) == NULL)
			return memory_answer_of(RECORDS_NOLEASE,
						"memory: requested lease not found");
	}
	return NULL;
}

/* ---- gets ---- */

static int
oldest_first(const void *a, const void *b)
{
	const struct memory_record *const *x = a, *const *y = b;

	return (*x)->kv.created < (*y)->kv.created ? -1 : (*x)->kv.created > (*y)->kv.created;
}

/* Of what was found, what was created last before that revision. */
static void
keep_newest(struct record_list *l, int64_t before)
{
	struct memory_record *newest = NULL;
	size_t i;

	for (i = 0; i < l->n; i++)
		if (l->record[i]->kv.created < before &&
		    (newest == NULL || l->record[i]->kv.created > newest->kv.created))
			newest = l->record[i];
	l->n = newest != NULL;
	l->record[0] = newest;
}

/*
 * Finds what a get is about, in its order as far as its limit goes.  Returns how many records are in
 * its range.
 */
static size_t
gather(struct memory *m, const struct txn_item *item)
{
	struct record_list *l = &m->scratch;
	struct span s = span_of(m, item);
	size_t i;

	if (l->room < m->map.n) {
		l->room = m->map.room;
		l->record =
		    memory_got(reallocarray(l->record, l->room, sizeof(struct memory_record *)));
	}
	for (l->n = 0, i = s.from; i < s.end; i++)
		l->record[l->n++] = m->map.record[i];
	if (item->oldest_first && l->n > 1)
		qsort(l->record, l->n, sizeof(struct memory_record *), oldest_first);
	if (item->newest_before != 0 && l->n > 0)
		keep_newest(l, item->newest_before);
	return s.end - s.from;
}

static void
get(struct memory *m, const struct txn_item *item, struct records_found *found)
{
	struct record_kv *kv;
	size_t i, n;

	found->count = gather(m, item);
	n = m->scratch.n;
	if (item->limit != 0 && n > item->limit)
		n = item->limit;
	if (n == 0)
		return;
	kv = memory_got(calloc(n, sizeof(*kv)));
	for (i = 0; i < n; i++) {
		kv[i] = memory_use(m->scratch.record[i])->kv;
		if (item->keys_only) {
			kv[i].value += kv[i].value_size; /* the NUL at its end */
			kv[i].value_size = 0;
		}
	}
	found->kv = kv;
	found->n = n;
}

/* ---- the answer ---- */

void
memory_answer_free(struct memory_answer *a)
{
	size_t i, j;

	if (a == NULL)
		return;
	for (i = 0; i < a->a.n; i++) {
		for (j = 0; j < a->found[i].n; j++)
			memory_drop((struct memory_record *)(void *)a->found[i].kv[j].key - 1);
		free((void *)(uintptr_t)a->found[i].kv);
	}
	free(a);
}

static uint64_t
delete_all(struct memory *m, const struct txn_item *item, int64_t revision)
{
	struct span s = span_of(m, item);
	size_t i;

	for (i = s.from; i < s.end; i++)
		memory_delete(m, s.from, revision);
	return s.end - s.from;
}

struct memory_answer *
memory_txn(struct memory *m, const struct txn *txn, uint64_t now_ns)
{
	enum txn_part part = TXN_THEN;
	struct memory_answer *a;
	bool writes = false;
	size_t i;

	memory_step(m, now_ns);
	for (i = 0; i < txn->n; i++)
		if (txn->item[i].part == TXN_IF && !holds(m, &txn->item[i]))
			part = TXN_OTHERWISE;
	if ((a = refusal(m, txn, part)) != NULL)
		return a;
	a = memory_got(calloc(1, sizeof(*a) + count_of(txn, part) * sizeof(a->found[0])));
	a->a.held = part == TXN_THEN;
	a->a.found = a->found;
	for (i = 0; i < txn->n; i++) {
		const struct txn_item *item = &txn->item[i];

		if (item->part != part)
			continue;
		if (item->kind == DO_GET) {
			get(m, item, &a->found[a->a.n]);
		} else if (item->kind == DO_PUT) {
			memory_put(m, item, m->revision + 1);
			writes = true;
		} else {
			a->found[a->a.n].count = delete_all(m, item, m->revision + 1);
			writes |= a->found[a->a.n].count > 0;
		}
		a->a.n++;
	}
	m->revision += writes;
	a->a.revision = m->revision;
	return a;
}
