/* SPDX-License-Identifier: ISC */
/*
 * inside.h - the engine for etcd, as its parts see it, and what all of them use.  engine.c, above
 * them, has the loop; operator/ looks from outside; taker/ is about takers (taker.h).
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <sys/queue.h>

#include "clock.h"
#include "engine/engine.h"
#include "engine/record.h"
#include "etcd/client/etcd.h"
#include "etcd/schema/keys.h"
#include "etcd/schema/look.h"

/*
 * Anything else that has times of its own: a question, a follower, a lease to be revoked.
 * Put into the list by engine_part_add(); step() is called when due_ns has come, and must set
 * another; end() when the engine is closed, and frees it.
 */
struct engine_part {
	LIST_ENTRY(engine_part) link;
	uint64_t due_ns; /* UINT64_MAX: never */
	void (*step)(struct engine_part *part);
	void (*end)(struct engine_part *part);
};

LIST_HEAD(engine_parts, engine_part);
LIST_HEAD(engine_takers, engine_taker);

struct engine {
	struct etcd *etcd;
	struct url url;
	bool named;      /* limiter and its key are something */
	struct key base; /* of all limiters */
	struct key limiter;
	uint32_t ttl_s, grace_s;
	bool manual;
	unsigned timeout_ms; /* of a call */
	char host[STORE_HOST];
	struct engine_takers takers;
	struct engine_takers freed; /* inside of engine_step(): freed at its end */
	struct engine_parts parts;
	bool stepping;
};

void engine_part_add(struct engine *e, struct engine_part *part);
void engine_part_remove(struct engine_part *part); /* not from another's step() */

int64_t engine_random_id(void); /* of a lease: 63 bits, never 0 */

/* Ends a lease in the background; nobody waits for it, and it may as well expire. */
void engine_revoke(struct engine *e, int64_t lease);

/* {"ID":..,"TTL":..} and {"ID":..} */
json_t *engine_lease_body(int64_t lease, uint32_t ttl_s);

#endif
