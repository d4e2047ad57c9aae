/* SPDX-License-Identifier: ISC */
/*
 * lease.c - how a taker gets its lease, and keeps it alive.  taker.c drops it.
 *
 * alive_ns is the time at which the taker sent the last call that the store answered as it does
 * while the lease lives; so the lease lives until alive_ns + ttl at least, whatever is lost after
 * that.
 */
#include "taker.h"

#include <stdlib.h>

#include "records/retry.h"

void
lease_lives(struct fleet_taker *t, uint64_t alive_ns)
{
	t->leased = true;
	t->missed = 0;
	t->alive_ns = alive_ns;
	t->beat_ns = t->alive_ns + t->fleet->ttl_s * SECOND / 3;
}

/* If the id is in use already, that lease is not ours to keep: we don't know how old it is. */
static void
asked(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK) {
		t->lease = 0;
		taker_again(t);
		return;
	}
	lease_lives(t, reply->sent_ns);
	taker_act(t);
}

void
lease_ask(struct fleet_taker *t)
{
	if (t->slot[LEASE].call != NULL)
		return;
	/*
	 * The first lease has the taker's name as its id, for people to find it.  No other may have
	 * it: what ends the first may come late.
	 */
	t->lease = t->named ? 0 : (int64_t)(strtoull(t->self, NULL, 16) & INT64_MAX);
	if (t->lease == 0)
		t->lease = fleet_random_id();
	t->named = true;
	t->leased = false;
	if (!taker_lease(t, LEASE, t->lease, t->fleet->ttl_s, asked))
		taker_again(t);
}

/* When to retry a renewal that failed. */
static uint64_t
after_failure(const struct fleet_taker *t)
{
	return flki_boottime_ns() + retry_renewal(t->missed, t->fleet->ttl_s);
}

static void
beaten(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result == RECORDS_OK && reply->alive) {
		lease_lives(t, reply->sent_ns);
		taker_act(t);
	} else if (reply->result == RECORDS_OK || reply->result == RECORDS_NOLEASE) {
		/* The place went with the lease. */
		t->leased = false;
		taker_go(t, RECONCILE);
	} else {
		t->missed++;
		t->beat_ns = after_failure(t);
	}
}

void
lease_beat(struct fleet_taker *t)
{
	t->beat_ns = UINT64_MAX;
	if (!taker_on_lease(t, BEAT, records_renew, beaten))
		t->beat_ns = after_failure(t);
}

void
lease_keep(struct fleet_taker *t)
{
	if (t->slot[BEAT].call == NULL && t->beat_ns == UINT64_MAX)
		t->beat_ns =
		    t->leased ? t->alive_ns + t->fleet->ttl_s * SECOND / 3 : after_failure(t);
}
