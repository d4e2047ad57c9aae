/* SPDX-License-Identifier: ISC */
/*
 * inside.h - a limiter in a store, as its parts see it, and what all of them use.  fleet.c, above
 * them, has the loop; operator/ looks from outside; taker/ is about takers (taker.h).
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <sys/queue.h>

#include "clock.h"
#include "protocol/fleet.h"
#include "protocol/record.h"
#include "records/records.h"
#include "protocol/keys.h"
#include "protocol/look.h"

/*
 * Anything else that has times of its own: a question, a follower, a lease to be revoked.
 * Put into the list by fleet_part_add(); step() is called when due_ns has come, and must set
 * another; end() when the fleet is closed, and frees it.
 */
struct fleet_part {
	LIST_ENTRY(fleet_part) link;
	uint64_t due_ns; /* UINT64_MAX: never */
	void (*step)(struct fleet_part *part);
	void (*end)(struct fleet_part *part);
};

LIST_HEAD(fleet_parts, fleet_part);
LIST_HEAD(fleet_takers, fleet_taker);

struct fleet {
	struct records *records;
	struct url url;
	bool named;      /* limiter and its key are something */
	struct key base; /* of all limiters */
	struct key limiter;
	uint32_t ttl_s, grace_s;
	bool manual;
	unsigned timeout_ms; /* of a call */
	char host[STORE_HOST];
	struct fleet_takers takers;
	struct fleet_takers freed; /* inside of fleet_step(): freed at its end */
	struct fleet_parts parts;
	bool stepping;
};

void fleet_part_add(struct fleet *fleet, struct fleet_part *part);
void fleet_part_remove(struct fleet_part *part); /* not from another's step() */

int64_t fleet_random_id(void); /* of a lease: 63 bits, never 0 */

/* Ends a lease in the background; nobody waits for it, and it may as well expire. */
void fleet_revoke(struct fleet *fleet, int64_t lease);

#endif
