/* SPDX-License-Identifier: ISC */
/*
 * lease.c - a taker's lease: had, and kept alive.  taker.c drops it.
 *
 * alive_ns is the time at which the last call was made that the store answered as it does while
 * the lease lives; so the lease lives until alive_ns + ttl at least, whatever is lost after that.
 */
#include "taker.h"

#include <stdlib.h>

#include "engine/retry.h"

/* An id that is taken is no more ours than any other: nobody knows since when it is. */
static void
asked(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result != ETCD_OK) {
		t->lease = 0;
		taker_again(t);
		return;
	}
	t->leased = true;
	t->missed = 0;
	t->alive_ns = reply->sent_ns;
	t->beat_ns = t->alive_ns + t->e->ttl_s * SECOND / 3;
	taker_act(t);
}

void
lease_ask(struct engine_taker *t)
{
	if (t->slot[LEASE].call != NULL)
		return;
	/* The first has the taker's name, for people to find it. */
	t->lease = t->lease == 0 && t->alive_ns == 0 && t->failures == 0
		       ? (int64_t)(strtoull(t->self, NULL, 16) & INT64_MAX)
		       : engine_random_id();
	if (t->lease == 0)
		t->lease = engine_random_id();
	t->leased = false;
	if (!taker_call(t, LEASE, "/v3/lease/grant", engine_lease_body(t->lease, t->e->ttl_s),
			asked))
		taker_again(t);
}

/* When to try a renewal again that could not be made. */
static uint64_t
after_failure(const struct engine_taker *t)
{
	return flki_boottime_ns() + retry_renewal(t->missed, t->e->ttl_s);
}

/* The gateway wraps what comes from a stream; a dead lease is one without a time to live. */
static bool
is_alive(const struct etcd_reply *reply)
{
	const json_t *result = json_object_get(reply->body, "result");

	return etcd_integer(result != NULL ? result : reply->body, "TTL") > 0;
}

static void
beaten(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result == ETCD_OK && is_alive(reply)) {
		t->missed = 0;
		t->leased = true;
		t->alive_ns = reply->sent_ns;
		t->beat_ns = t->alive_ns + t->e->ttl_s * SECOND / 3;
		taker_act(t);
	} else if (reply->result == ETCD_OK || reply->result == ETCD_NOLEASE) {
		/* With it went the place. */
		t->leased = false;
		taker_go(t, RECONCILE);
	} else {
		t->missed++;
		t->beat_ns = after_failure(t);
	}
}

void
lease_beat(struct engine_taker *t)
{
	t->beat_ns = UINT64_MAX;
	if (!taker_call(t, BEAT, "/v3/lease/keepalive", engine_lease_body(t->lease, 0), beaten))
		t->beat_ns = after_failure(t);
}

void
lease_keep(struct engine_taker *t)
{
	if (t->slot[BEAT].call == NULL && t->beat_ns == UINT64_MAX)
		t->beat_ns = t->leased ? t->alive_ns + t->e->ttl_s * SECOND / 3 : after_failure(t);
}
