/* SPDX-License-Identifier: ISC */
/*
 * memory.c - records and leases: see memory.h.  A map is an array in the order of the keys: a few
 * thousand records are moved faster than a tree is balanced.
 */
#include "inside.h"

#include <stdlib.h>
#include <string.h>

void *
memory_got(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

/* ---- records ---- */

struct memory_record *
memory_use(struct memory_record *r)
{
	r->users++;
	return r;
}

void
memory_drop(struct memory_record *r)
{
	if (r != NULL && --r->users == 0)
		free(r);
}

static struct memory_record *
record_new(const char *key, const char *value, size_t size)
{
	size_t n = strlen(key);
	struct memory_record *r = memory_got(calloc(1, sizeof(*r) + n + 1 + size + 1));

	r->users = 1;
	r->kv.key = (char *)(r + 1);
	r->kv.value = r->kv.key + n + 1;
	r->kv.key_size = n;
	r->kv.value_size = size;
	memcpy(r->kv.key, key, n);
	if (size > 0)
		memcpy(r->kv.value, value, size);
	return r;
}

/* The first of an ordered list that is not before that; each that is before comes first. */
static size_t
first_not(const struct record_list *l,
	  bool (*is_before)(const struct record_kv *kv, const void *that), const void *that)
{
	size_t low = 0, high = l->n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (is_before(&l->record[middle]->kv, that))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static bool
has_lower_key(const struct record_kv *kv, const void *key)
{
	return strcmp(kv->key, key) < 0;
}

static bool
changed_before(const struct record_kv *kv, const void *revision)
{
	return kv->changed < *(const int64_t *)revision;
}

size_t
memory_from(const struct memory *m, const char *key)
{
	return first_not(&m->map, has_lower_key, key);
}

struct memory_record *
memory_at(const struct memory *m, size_t i)
{
	return i < m->map.n ? m->map.record[i] : NULL;
}

struct memory_record *
memory_find(const struct memory *m, const char *key)
{
	struct memory_record *r = memory_at(m, memory_from(m, key));

	return r != NULL && strcmp(r->kv.key, key) == 0 ? r : NULL;
}

/* Room for one more. */
static void
more(struct record_list *l)
{
	if (l->n < l->room)
		return;
	l->room = l->room * 2 + 64;
	l->record = memory_got(reallocarray(l->record, l->room, sizeof(struct memory_record *)));
}

static void
remember(struct memory *m, struct memory_record *change)
{
	more(&m->history);
	m->history.record[m->history.n++] = change;
}

static void
leave_lease(struct memory_record *r)
{
	if (r->kv.lease != 0)
		LIST_REMOVE(r, of_lease);
}

void
memory_put(struct memory *m, const struct txn_item *item, int64_t revision)
{
	struct memory_record *r = record_new(item->key, item->value, item->size), *old;
	struct lease *lease = lease_find(m, item->lease);
	size_t at = memory_from(m, item->key);

	old = memory_find(m, item->key);
	r->kv.created = old != NULL ? old->kv.created : revision;
	r->kv.changed = revision;
	if (lease != NULL) {
		r->kv.lease = item->lease;
		LIST_INSERT_HEAD(&lease->records, r, of_lease);
	}
	if (old != NULL) {
		leave_lease(old);
		memory_drop(old);
	} else {
		more(&m->map);
		memmove(&m->map.record[at + 1], &m->map.record[at],
			(m->map.n++ - at) * sizeof(struct memory_record *));
	}
	m->map.record[at] = memory_use(r);
	remember(m, r);
}

void
memory_delete(struct memory *m, size_t at, int64_t revision)
{
	struct memory_record *old = m->map.record[at];
	struct memory_record *gone = record_new(old->kv.key, NULL, 0);

	gone->deleted = true;
	gone->kv.changed = revision;
	memmove(&m->map.record[at], &m->map.record[at + 1],
		(--m->map.n - at) * sizeof(struct memory_record *));
	leave_lease(old);
	memory_drop(old);
	remember(m, gone);
}

/* ---- leases ---- */

struct lease *
lease_find(const struct memory *m, int64_t id)
{
	struct lease *l;

	LIST_FOREACH(l, &m->bucket[(uint64_t)id % LEASE_BUCKETS], link)
		if (l->id == id)
			return l;
	return NULL;
}

/* Its records go with it, in one revision. */
static void
lease_over(struct memory *m, struct lease *l)
{
	struct memory_record *r;

	if (!LIST_EMPTY(&l->records))
		m->revision++;
	while ((r = LIST_FIRST(&l->records)) != NULL)
		memory_delete(m, memory_from(m, r->kv.key), m->revision);
	heap_remove(&m->leases, &l->due);
	LIST_REMOVE(l, link);
	free(l);
}

struct memory_answer *
memory_answer_of(enum records_result result, const char *text)
{
	struct memory_answer *a = memory_got(calloc(1, sizeof(*a)));

	a->a.result = result;
	a->a.text = text;
	return a;
}

static struct memory_answer *
leased(const struct memory *m, bool alive)
{
	struct memory_answer *a = memory_answer_of(RECORDS_OK, NULL);

	a->a.revision = m->revision;
	a->a.alive = alive;
	return a;
}

#define NO_LEASE "memory: requested lease not found"

struct memory_answer *
memory_lease(struct memory *m, int64_t id, uint32_t ttl_s, uint64_t now_ns)
{
	struct lease *l;

	memory_step(m, now_ns);
	if (lease_find(m, id) != NULL)
		return memory_answer_of(RECORDS_EXISTS, "memory: lease already exists");
	l = memory_got(calloc(1, sizeof(*l)));
	l->id = id;
	l->ttl_ns = (uint64_t)ttl_s * 1000000000;
	LIST_INSERT_HEAD(&m->bucket[(uint64_t)id % LEASE_BUCKETS], l, link);
	heap_put(&m->leases, &l->due, now_ns + l->ttl_ns);
	return leased(m, true);
}

struct memory_answer *
memory_renew(struct memory *m, int64_t id, uint64_t now_ns)
{
	struct lease *l;

	memory_step(m, now_ns);
	l = lease_find(m, id);
	if (l != NULL)
		heap_put(&m->leases, &l->due, now_ns + l->ttl_ns);
	return leased(m, l != NULL);
}

struct memory_answer *
memory_end(struct memory *m, int64_t id, uint64_t now_ns)
{
	struct lease *l;

	memory_step(m, now_ns);
	l = lease_find(m, id);
	if (l == NULL)
		return memory_answer_of(RECORDS_NOLEASE, NO_LEASE);
	lease_over(m, l);
	return leased(m, false);
}

uint64_t
memory_due(const struct memory *m)
{
	return heap_due(&m->leases);
}

void
memory_step(struct memory *m, uint64_t now_ns)
{
	while (memory_due(m) <= now_ns)
		lease_over(m, (struct lease *)heap_first(&m->leases));
}

void
memory_extend(struct memory *m, uint64_t now_ns)
{
	struct lease *l;
	size_t i;

	for (i = 0; i < LEASE_BUCKETS; i++)
		LIST_FOREACH(l, &m->bucket[i], link)
			heap_put(&m->leases, &l->due, now_ns + l->ttl_ns);
}

void
memory_fall_back(struct memory *m, int64_t by)
{
	m->revision = m->revision > by ? m->revision - by : 1;
}

/* ---- all of it ---- */

struct memory *
memory_new(void)
{
	struct memory *m = memory_got(calloc(1, sizeof(*m)));

	m->revision = 1;
	return m;
}

void
memory_free(struct memory *m)
{
	size_t i;

	while (m->leases.n > 0)
		lease_over(m, (struct lease *)heap_first(&m->leases));
	for (i = 0; i < m->map.n; i++)
		memory_drop(m->map.record[i]);
	for (i = 0; i < m->history.n; i++)
		memory_drop(m->history.record[i]);
	heap_free(&m->leases);
	free(m->map.record);
	free(m->history.record);
	free(m->scratch.record);
	free(m);
}

int64_t
memory_revision(const struct memory *m)
{
	return m->revision;
}

size_t
memory_leases(const struct memory *m)
{
	return m->leases.n;
}

size_t
memory_since(const struct memory *m, int64_t revision)
{
	return first_not(&m->history, changed_before, &revision);
}

struct memory_record *
memory_change(const struct memory *m, size_t i)
{
	return i < m->history.n ? m->history.record[i] : NULL;
}

void
memory_compact(struct memory *m, int64_t revision)
{
	size_t i, gone = memory_since(m, revision);

	for (i = 0; i < gone; i++)
		memory_drop(m->history.record[i]);
	m->history.n -= gone;
	if (gone > 0)
		memmove(m->history.record, m->history.record + gone,
			m->history.n * sizeof(struct memory_record *));
	if (revision - 1 > m->compacted)
		m->compacted = revision - 1;
}

int64_t
memory_compacted(const struct memory *m)
{
	return m->compacted;
}
