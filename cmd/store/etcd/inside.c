/* SPDX-License-Identifier: ISC */
/*
 * inside.c - what all parts of the engine use: see inside.h.
 */
#include "inside.h"

#include <stdlib.h>
#include <sys/random.h>

#include "engine/retry.h"

void
engine_part_add(struct engine *e, struct engine_part *part)
{
	LIST_INSERT_HEAD(&e->parts, part, link);
}

void
engine_part_remove(struct engine_part *part)
{
	LIST_REMOVE(part, link);
}

int64_t
engine_random_id(void)
{
	uint64_t bits;

	while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits) || bits >> 1 == 0)
		;
	return (int64_t)(bits >> 1);
}

/* ---- leases that nobody needs ---- */

#define REVOKE_TRIES 3

struct revoke {
	struct engine_part part;
	struct engine *e;
	struct etcd_call *call;
	int64_t lease;
	unsigned tries;
};

json_t *
engine_lease_body(int64_t lease, uint32_t ttl_s)
{
	json_t *o = json_object();

	json_object_set_new(o, "ID", etcd_number(lease));
	if (ttl_s > 0)
		json_object_set_new(o, "TTL", etcd_number(ttl_s));
	return o;
}

static void
revoke_end(struct engine_part *part)
{
	struct revoke *r = (struct revoke *)part;

	if (r->call != NULL)
		etcd_cancel(r->call);
	free(r);
}

static void
revoke_done(void *context, const struct etcd_reply *reply)
{
	struct revoke *r = context;

	r->call = NULL;
	if (reply->result == ETCD_AWAY && ++r->tries < REVOKE_TRIES) {
		r->part.due_ns = flki_boottime_ns() + retry_pause(r->tries + 3);
		return;
	}
	engine_part_remove(&r->part);
	free(r);
}

static void
revoke_step(struct engine_part *part)
{
	struct revoke *r = (struct revoke *)part;

	part->due_ns = UINT64_MAX;
	r->call = etcd_call(r->e->etcd, "/v3/lease/revoke", engine_lease_body(r->lease, 0),
			    r->e->timeout_ms, revoke_done, r);
}

void
engine_revoke(struct engine *e, int64_t lease)
{
	struct revoke *r = lease == 0 ? NULL : calloc(1, sizeof(*r));

	if (r == NULL)
		return;
	r->part.step = revoke_step;
	r->part.end = revoke_end;
	r->e = e;
	r->lease = lease;
	engine_part_add(e, &r->part);
	revoke_step(&r->part);
}
