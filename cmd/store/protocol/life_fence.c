/* SPDX-License-Identifier: ISC */
/*
 * life_fence.c - the leases that a life has left: see life.h.
 */
#include "life_inside.h"

#include <string.h>

/* ---- leaving a lease ---- */

static size_t
old_leases(const struct life *l)
{
	size_t i, n = 0;

	for (i = 0; i < LIFE_OLD; i++)
		n += l->old[i] != 0;
	return n;
}

/* The oldest is forgotten if there is no room: if so many have ended, and no call was answered meanwhile. */
void
life_leave(struct life *l, int64_t id)
{
	if (id == 0)
		return;
	memmove(l->old + 1, l->old, sizeof(l->old) - sizeof(l->old[0]));
	l->old[0] = id;
}

/* After a failure, the next renewal tries again. */
static void
ended(void *context, const struct records_answer *a)
{
	struct life *l = context;

	l->call = NULL;
	if (a->result == RECORDS_OK || a->result == RECORDS_NOLEASE) {
		l->old[old_leases(l) - 1] = 0;
		life_end_old(l);
	} else {
		life_again(l);
	}
	fleet_heard(l->fleet, a);
}

void
life_end_old(struct life *l)
{
	size_t n = old_leases(l);

	if (n > 0 && l->state == LIFE_SHOWN && l->call == NULL)
		l->call = records_end(l->fleet->store->records, l->old[n - 1],
				      l->fleet->store->timeout_ms, ended, l);
}

bool
life_fence(struct life *l, int64_t id)
{
	size_t i;

	if (id == l->lease && l->state >= LIFE_LEASED && old_leases(l) < LIFE_OLD) {
		life_hush(l);
		life_leave(l, id);
		life_lease(l);
	}
	life_need(l);
	for (i = 0; i < LIFE_OLD; i++)
		if (l->old[i] == id)
			return false;
	return id != l->lease;
}

/* ---- taking over ---- */

static void
read_lease(void *context, const struct records_answer *a)
{
	struct life *l = context;
	struct records_found f = records_found(a, 0);
	size_t i;

	l->call = NULL;
	if (a->result == RECORDS_OK) {
		life_leave(l, life_first(l));
		for (i = 0; i < f.n; i++)
			if (f.kv[i].lease != life_first(l))
				life_leave(l, f.kv[i].lease);
		l->first = 0;
		l->heir = false;
		life_lease(l);
	} else {
		life_again(l);
	}
	fleet_heard(l->fleet, a);
}

void
life_inherit(struct life *l)
{
	struct key k = key_of(&l->fleet->limiter, 'l', l->name), end = key_end(&k);
	struct txn *x = txn_new();

	l->state = LIFE_HEIR;
	l->due_ns = UINT64_MAX;
	txn_get(x, k.s, end.s)->keys_only = true;
	l->call =
	    records_txn(l->fleet->store->records, x, l->fleet->store->timeout_ms, read_lease, l);
	if (l->call == NULL)
		life_again(l);
}

bool
life_is_settled(const struct life *l)
{
	return !l->heir && old_leases(l) == 0;
}
