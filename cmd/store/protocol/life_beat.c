/* SPDX-License-Identifier: ISC */
/*
 * life_beat.c - the renewals of a life, and the watch of its key: see life.h.
 */
#include "life_inside.h"

/* ---- the watch ---- */

void
life_unwatch(struct life *l)
{
	if (l->watch != NULL)
		records_unwatch(l->watch);
	l->watch = NULL;
}

static void
hears(void *context, const struct records_news *news)
{
	struct life *l = context;

	if (news->kind == WATCH_CHANGE && news->change->kv.changed > l->shown) {
		/* What is under way may have been answered before. */
		life_cancel(&l->beat);
		life_cancel(&l->check);
		life_beat(l);
	} else if (news->kind == WATCH_COMPACTED || news->kind == WATCH_FAILED) {
		life_unwatch(l);
	}
}

void
life_watch(struct life *l, int64_t from)
{
	struct key k = life_key(l);
	struct records_range range = { .key = k.s, .no_put = true };

	if (l->watch == NULL)
		l->watch = records_watch(l->fleet->store->records, &range, 1, from, hears, l);
}

/* ---- renewals ---- */

static void
round_over(struct life *l)
{
	if (l->beat != NULL || l->check != NULL)
		return;
	if (!l->renewed || !l->checked) {
		l->due_ns =
		    flki_boottime_ns() + retry_renewal(l->failures++, l->fleet->store->ttl_s);
		return;
	}
	l->failures = 0;
	life_lives(l, l->round_ns);
	l->proven_ns = l->alive_ns;
	fleet_proven(l->fleet);
}

static void
beaten(void *context, const struct records_answer *a)
{
	struct life *l = context;

	l->beat = NULL;
	if (a->result == RECORDS_NOLEASE || (a->result == RECORDS_OK && !a->alive)) {
		life_has_lost(l, l->lease);
	} else {
		l->renewed = a->result == RECORDS_OK;
		round_over(l);
	}
	fleet_heard(l->fleet, a);
}

/* Of l/: not so, if it was put after that was read. */
static bool
is_gone(const struct life *l, const struct records_answer *a)
{
	struct records_found mine = records_found(a, 0);

	return l->state == LIFE_SHOWN && a->revision >= l->shown && mine.n == 0;
}

static void
checked(void *context, const struct records_answer *a)
{
	struct life *l = context;

	l->check = NULL;
	l->checked = a->result == RECORDS_OK;
	if (l->checked)
		fleet_checked(l->fleet, a);
	if (l->checked && is_gone(l, a)) {
		life_has_lost(l, l->lease);
	} else {
		if (l->checked && l->state == LIFE_SHOWN)
			life_watch(l, a->revision + 1); /* if it has ended */
		round_over(l);
	}
	fleet_heard(l->fleet, a);
}

void
life_beat(struct life *l)
{
	struct key k = life_key(l);
	struct txn *x;

	if (l->state != LIFE_SHOWN) {
		life_need(l);
		return;
	}
	life_end_old(l);
	if (l->beat != NULL || l->check != NULL)
		return;
	l->round_ns = flki_boottime_ns();
	l->renewed = l->checked = false;
	l->due_ns = UINT64_MAX;
	x = txn_new();
	txn_get(x, k.s, NULL)->keys_only = true;
	fleet_add_check(l->fleet, x);
	l->beat = records_renew(l->fleet->store->records, l->lease, l->fleet->store->timeout_ms,
				beaten, l);
	l->check =
	    records_txn(l->fleet->store->records, x, l->fleet->store->timeout_ms, checked, l);
	round_over(l);
}
