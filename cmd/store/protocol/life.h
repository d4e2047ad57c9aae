/* SPDX-License-Identifier: ISC */
/*
 * life.h - the life of a keeper in a limiter: the key by which others see that it is alive.
 *
 * All takers of a fleet share one life, and their records name it.  It has a key l/ for its lease, on that
 * lease, which it renews; when the lease has ended, for any reason, it takes another, with a key of
 * its own.  Nobody takes a permit or a place of its takers before the life has had no l/ for their grace.
 *
 *	NONE -> LEASING -> LEASED -> PUTTING -> SHOWN
 *	NONE -> HEIR -> LEASING		of a keeper that takes over
 *
 * In LEASED a taker's claim may put l/ as well, and spares PUTTING.  From any state, the end of the
 * lease leads back to LEASING, and life_drop() to NONE.
 *
 * The fence: a claim that got no answer may still be done.  It puts l/ of its lease, too, and so it can't be
 * done when that lease has ended.  But others may hold by that lease: so the life shows another one first,
 * and then ends that one.  What comes late puts l/ of the lease that it was sent for, and no other: so it can
 * move the life to no lease that is about to end.  A keeper that takes over from a dead one has the same
 * life, and fences what that one has sent last.  It must know the leases: so a claim is on the first lease of
 * the life, whose id follows from its name, or on one that has its l/.
 *
 * A renewal counts when two answers came: that of the lease's keepalive, which a server that has lost
 * its cluster answers as well, and that of the check, a read of l/ and of the permits, which only the
 * cluster can answer.  The key is watched, too: a server may end a lease too early, and the grace may be
 * shorter than the time to the next renewal.
 */
#ifndef LIFE_H
#define LIFE_H

#include <stdbool.h>
#include <stdint.h>

#include "keys.h"
#include "records/records.h"
#include "view.h"

struct fleet;

#define LIFE_OLD 64

enum life_state { LIFE_NONE, LIFE_HEIR, LIFE_LEASING, LIFE_LEASED, LIFE_PUTTING, LIFE_SHOWN };

struct life {
	struct fleet *fleet;
	char name[STORE_SELF];
	enum life_state state;
	int64_t lease; /* 0 in NONE */
	int64_t first; /* the id of the first lease of that life; 0: it was used */
	bool heir;     /* another keeper had that life before, and its leases are not read yet */
	int64_t old[LIFE_OLD]; /* it has left them, and ends them when l/ is on another; 0: none */
	uint64_t alive_ns;  /* when the last call was sent that the store answered as it does while
			       the lease lives: it does until alive_ns + ttl at least */
	uint64_t proven_ns; /* alive_ns when l/ was last seen to be there; 0: not known */
	uint64_t due_ns;    /* when to go on; UINT64_MAX: not by time */
	unsigned failures;  /* in a row */
	int64_t shown;      /* SHOWN: the revision at which l/ was put */
	struct records_watch *watch; /* SHOWN: of l/; NULL: none */
	const char *note;            /* for people, when l/ is there again; or NULL */
	struct records_call *call;   /* HEIR, LEASING, PUTTING; SHOWN: the end of an old lease */

	/* The renewal under way: */
	struct records_call *beat, *check;
	uint64_t round_ns; /* it began then */
	bool renewed, checked;
};

/* Of the keeper that the store was opened for. */
void life_begin(struct life *l, struct fleet *fleet);
void life_step(struct life *l, uint64_t now);

/* A taker needs it: from now on it has a lease, or gets one, and takers hear of it by fleet_heard(). */
void life_need(struct life *l);

/* Sends nothing any more, and hears nothing. */
void life_stop(struct life *l);

/* What the keeper before has sent last was done, or never will be. */
bool life_is_settled(const struct life *l);

/* Moves l/ off that lease, and ends it; true: it has ended.  Else fleet_heard() comes when it may have. */
bool life_fence(struct life *l, int64_t lease);

/* No taker needs it any more.  The lease is ended in the background, and nobody waits for that. */
void life_drop(struct life *l);

/* It has a lease that was renewed no longer ago than half the ttl, and so is safe to use. */
bool life_is_fresh(const struct life *l);

/* ... and is safe to use for a claim, as a keeper that took over would know it. */
bool life_may_claim(const struct life *l);

/* Renews now, if no renewal is under way. */
void life_beat(struct life *l);

/*
 * Puts l/ of its lease, in a taker's claim.  And the claim's answer: with that lease, l/ was put, or there is
 * no such lease, or it may not be used any more.
 */
void life_add(const struct life *l, struct txn *x);
void life_was_put(struct life *l, int64_t lease, int64_t revision);
void life_has_lost(struct life *l, int64_t lease);

/* Deletes what repairers have written of a life that they took for dead. */
void life_add_unmark(const struct key *limiter, const char *life, struct txn *x);

#endif
