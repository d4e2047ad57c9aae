/* SPDX-License-Identifier: ISC */
/*
 * inside.c - what all parts of a fleet use: see inside.h.
 */
#include "inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

#include "batch.h"
#include "records/retry.h"

void
fleet_part_add(struct fleet *fleet, struct fleet_part *part)
{
	LIST_INSERT_HEAD(&fleet->parts, part, link);
}

void
fleet_part_remove(struct fleet_part *part)
{
	LIST_REMOVE(part, link);
}

int64_t
fleet_random_id(void)
{
	uint64_t bits;

	while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits) || bits >> 1 == 0)
		;
	return (int64_t)(bits >> 1);
}

void
fleet_random_name(char name[STORE_SELF])
{
	snprintf(name, STORE_SELF, "%016" PRIx64, (uint64_t)fleet_random_id());
}

/* ---- leases that nobody needs ---- */

#define REVOKE_TRIES 3

struct revoke {
	struct fleet_part part;
	struct fleet *fleet;
	struct records_call *call;
	int64_t lease;
	unsigned tries;
};

static void
revoke_end(struct fleet_part *part)
{
	struct revoke *r = (struct revoke *)part;

	if (r->call != NULL)
		records_cancel(r->call);
	free(r);
}

static void
revoke_done(void *context, const struct records_answer *reply)
{
	struct revoke *r = context;

	r->call = NULL;
	if (reply->result == RECORDS_AWAY && ++r->tries < REVOKE_TRIES) {
		r->part.due_ns = flki_boottime_ns() + retry_pause(r->tries + 3);
		return;
	}
	fleet_part_remove(&r->part);
	free(r);
}

static void
revoke_step(struct fleet_part *part)
{
	struct revoke *r = (struct revoke *)part;

	part->due_ns = UINT64_MAX;
	r->call = records_end(r->fleet->store->records, r->lease, r->fleet->store->timeout_ms,
			      revoke_done, r);
}

void
fleet_revoke(struct fleet *fleet, int64_t lease)
{
	struct revoke *r = lease == 0 ? NULL : calloc(1, sizeof(*r));

	if (r == NULL)
		return;
	r->part.step = revoke_step;
	r->part.end = revoke_end;
	r->fleet = fleet;
	r->lease = lease;
	fleet_part_add(fleet, &r->part);
	revoke_step(&r->part);
}

/* ---- a copy of the store ---- */

/* No engine waits longer for an answer, and so errs by more about when the copy took the store's place. */
#define UNSURE (5 * SECOND)

uint64_t
fleet_quarantine(const struct fleet *fleet, const struct look *look)
{
	uint64_t since = records_replaced(fleet->store->records);
	uint32_t longest = fleet->store->ttl_s + fleet->store->grace_s, s;
	const struct record *r;
	size_t i;

	if (since == 0)
		return 0;
	for (i = 0; look != NULL && i < look->holders + look->waiters; i++) {
		r = i < look->holders ? &look->holder[i].record
				      : &look->waiter[i - look->holders].record;
		s = r->ttl_s + r->grace_s;
		longest = s > longest ? s : longest;
	}
	since += longest * SECOND;
	return since > flki_boottime_ns() ? since : 0;
}

bool
fleet_may_register(const struct fleet *fleet)
{
	return fleet_quarantine(fleet, NULL) > flki_boottime_ns() + UNSURE;
}

void
fleet_saw(struct fleet *fleet, const struct look *look)
{
	if (look->batch == 0)
		fleet->batch = batch_most(look);
}

size_t
fleet_operations(const struct fleet *fleet, const struct look *look)
{
	return fleet_quarantine(fleet, look) != 0
		   ? 0
		   : records_limits(fleet->store->records).operations;
}
