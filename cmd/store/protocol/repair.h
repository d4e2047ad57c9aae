/* SPDX-License-Identifier: ISC */
/*
 * repair.h - a taker that the dead keep waiting takes their permits and places back: it is the repairer.
 *
 * A life is suspect when it has no l/: its lease ended, so its keeper did not reach the store for its
 * ttl.  The keeper may still be alive, and has its grace to end its commands or to put l/ again.
 *
 * The first repairer that sees it marks it: s/, and then t/ on a lease as long as the grace.  The
 * txn that writes t/ writes s/ again, so the revision of s/ shows that t/ was there.  The lease of
 * t/ is younger than the mark: of an older lease the repairer could not know how much was left when
 * it marked.
 *
 * A keeper that puts l/ again deletes the mark.  So a mark with the revision that the repairer saw
 * proves that the keeper has not done so since.  That the grace is over, the repairer knows by its
 * own clock since it saw the mark, or by t/ being gone.  So neither a late watch nor a repairer
 * that was stopped can take anything back too early.  Takers that never wait take permits back,
 * too: one of them marks, and a later one finds the grace over.
 *
 * Each waiter repairs those that stand dead before it, up to the next living one; and the first living one
 * the holders, too.
 */
#ifndef REPAIR_H
#define REPAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "view.h"

struct fleet_taker;

/* What a repairer remembers of a life from one look to the next. */
struct suspect {
	char life[STORE_SELF];
	int64_t seen;     /* the revision of s/ with t/ that it saw first, */
	uint64_t seen_ns; /* then */
	uint64_t ripe_ns; /* when to handle it again */
	bool is_read;     /* s/ and t/ were read since it was handled last */
};

struct suspects {
	struct suspect *s;
	size_t n, room;
	uint64_t due_ns;       /* when any is ripe */
	char life[STORE_SELF]; /* the call under way is about this one, */
	int64_t grace_lease;   /* and the lease of its t/ */
};

/*
 * Handles the suspects in the taker's look, one at a time; holders: those that hold, too.  True while
 * something is under way.
 */
bool repair_act(struct fleet_taker *t, bool holders);

/* Whether there are any. */
bool repair_any(const struct fleet_taker *t, bool holders);
void repair_free(struct suspects *s);

#endif
