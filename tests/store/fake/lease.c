/* SPDX-License-Identifier: ISC */
#include "lease.h"

#include <stdlib.h>

struct lease *
lease_find(const struct leases *l, int64_t id)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		if (l->list[i].id == id)
			return &l->list[i];
	}
	return NULL;
}

static int64_t
choose(struct leases *l)
{
	if (l->last_id == 0)
		l->last_id = 6979631650388900000;
	do
		l->last_id += 2;
	while (lease_find(l, l->last_id) != NULL);
	return l->last_id;
}

struct lease *
lease_grant(struct leases *l, int64_t id, int64_t ttl, int64_t now)
{
	struct lease *lease;

	if (id == 0)
		id = choose(l);
	if (l->count == l->room) {
		l->room = 2 * l->room + 16;
		l->list = must_grow(l->list, l->room, sizeof(*l->list));
	}
	/* The least that etcd's default election timeout allows. */
	if (ttl < 2)
		ttl = 2;
	lease = &l->list[l->count++];
	*lease = (struct lease){ .id = id, .ttl = ttl, .until = now + 1000 * ttl };
	return lease;
}

void
lease_revoke(struct leases *l, struct lease *lease, struct kv *kv)
{
	int64_t id = lease->id;
	size_t i;

	*lease = l->list[--l->count];
	for (i = 0; i < kv->count; i++) {
		const struct version *v = key_now(kv->keys[i]);

		if (v != NULL && v->lease == id)
			kv_delete(kv, kv->keys[i]);
	}
	kv_commit(kv);
}

struct lease *
lease_over(struct leases *l, int64_t now)
{
	size_t i;

	for (i = 0; i < l->count; i++) {
		if (l->list[i].until <= now)
			return &l->list[i];
	}
	return NULL;
}

int64_t
lease_next(const struct leases *l)
{
	int64_t next = INT64_MAX;
	size_t i;

	for (i = 0; i < l->count; i++) {
		if (l->list[i].until < next)
			next = l->list[i].until;
	}
	return next;
}

static int
by_time(const void *a, const void *b)
{
	const struct lease *x = a, *y = b;

	return (x->until > y->until) - (x->until < y->until);
}

void
lease_sort(struct leases *l)
{
	if (l->count > 1)
		qsort(l->list, l->count, sizeof(*l->list), by_time);
}
