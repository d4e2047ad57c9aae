/* SPDX-License-Identifier: ISC */
/*
 * inside.h - a store and its limiters, as their parts see them, and what all of them use.  fleet.c,
 * above them, has the loop; operator/ looks from outside; taker/ is about takers (taker.h).
 */
#ifndef INSIDE_H
#define INSIDE_H

#include <sys/queue.h>

#include "clock.h"
#include "keys.h"
#include "life.h"
#include "look.h"
#include "protocol/fleet.h"
#include "record.h"
#include "records/records.h"

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
TAILQ_HEAD(fleet_queue, fleet_taker);

struct fleet_store {
	struct records *records;
	LIST_HEAD(fleets, fleet) fleets;
	struct fleet_takers freed; /* inside a step, which frees their memory at its end */
	bool stepping;
	unsigned timeout_ms; /* of a call */
	unsigned calls;      /* of takers, under way */
	unsigned most_calls; /* with so many, takers that have no permit queue for theirs ... */
	struct fleet_queue queue; /* ... here */
	struct key base;          /* of all limiters */
	uint32_t ttl_s, grace_s;
	bool manual, heir;
	char life[STORE_SELF]; /* "": each fleet has one of its own */
	char host[STORE_HOST];
};

/* What a keeper knows of a limiter for its next claim: taker/seen.c. */
struct seen {
	struct look look;
	bool there;        /* and no taker has it now */
	uint64_t until_ns; /* it is worth a try */
};

struct fleet {
	LIST_ENTRY(fleet) link;
	struct fleet_store *store;
	struct key limiter; /* "": all limiters of the path */
	struct life life;   /* of all its takers */
	struct seen seen;
	struct fleet_takers takers;
	struct fleet_parts parts;
	struct round_run *run; /* the rounds in the background; NULL: there are none */
	bool run_again;        /* something has happened since they looked */
	size_t batch;          /* its line was long, when a taker last saw it: batch_most() */
};

void fleet_part_add(struct fleet *fleet, struct fleet_part *part);
void fleet_part_remove(struct fleet_part *part); /* not from another's step() */

/*
 * What keeps a store going that is slower than all that want something of it: of each keeper's calls it has no
 * more at once than it answers in time.  Without that, thousands of takers repeat what was not answered, and
 * the store does nothing else.  Only what frees or keeps a permit does not queue.
 */
extern unsigned fleet_calls; /* so many at most; a variable for tests */

/* By that look, whose line may be long. */
void fleet_saw(struct fleet *fleet, const struct look *look);

/* Those that queue, as far as there is room. */
bool fleet_has_next(const struct fleet_store *store);
void fleet_call_next(struct fleet_store *store); /* takers.c */

int64_t fleet_random_id(void); /* of a lease: 63 bits, never 0 */
void fleet_random_name(char name[STORE_SELF]);

/*
 * Until when nothing may be granted (CLOCK_BOOTTIME, ns); 0: it may be.  A copy that took the store's place may
 * lack permits: by then their takers have ended, or have registered again, as long as there is time for that.
 */
uint64_t fleet_quarantine(const struct fleet *fleet, const struct look *look);
bool fleet_may_register(const struct fleet *fleet);

/* Of a transaction that grants by that look: as many as the engine can do, or 0 in a quarantine. */
size_t fleet_operations(const struct fleet *fleet, const struct look *look);

/* Ends a lease in the background; nobody waits for it, and it may as well expire. */
void fleet_revoke(struct fleet *fleet, int64_t lease);

/* ---- what life.c says to takers, and asks: takers.c ---- */

/* A taker has ended: if it was the last, nobody needs the life. */
void fleet_rest(struct fleet *fleet);

/* Does the store have a record of any, or may it? */
bool fleet_has_records(const struct fleet *fleet);

/* An answer about the life: it may say that the store is away, or refuse; and takers may go on. */
void fleet_heard(struct fleet *fleet, const struct records_answer *answer);

/* Gets the permits, as far as there is room for them; and those that the answer lacks are lost. */
void fleet_add_check(struct fleet *fleet, struct txn *x);
void fleet_checked(struct fleet *fleet, const struct records_answer *answer);

/* Both parts of a renewal have come. */
void fleet_proven(struct fleet *fleet);

/* To those that hold. */
void fleet_note(struct fleet *fleet, const char *text);

#endif
