/* SPDX-License-Identifier: ISC */
/*
 * round.h - how permits are granted: the taker that makes room grants all that fit, in the order of the line.
 *
 * A round is planned by a look at the line, and done by one transaction.  It holds if since the look no
 * permit was granted, cfg and what the pace counts are the same, and each waiter that it grants still
 * waits.  Permits and waiters may have gone since: then it fits all the more.  No waiter can have come
 * before another meanwhile, as tickets rise; in a fair limiter one can, and there a round holds only if
 * the turns are the same, and nobody has come since.  So no round grants too much, and none passes anybody.
 *
 * A release is a round, too: its transaction deletes the permit, and counts it as gone.  If it does not
 * hold, or nothing would fit, another transaction deletes the permit, and puts the bell; and what is read
 * then is the look of another round.  A taker whose round does not hold is done, as another round has held
 * since, or the first in the line hears of a new cfg; but in a fair limiter it looks again.  One whose round
 * holds looks whether the bell was put since its look, and plans once more if so: of all that make room at
 * once, one sees the room of all.  The same, if it grants all that wait, and another has come to the line
 * since.
 *
 * A waiter that is granted may be dead: what it got is taken back as from any holder (repair.h).  A permit
 * that only an operator may take back is therefore granted by its own waiter alone.  The taker that owes a
 * round may die: so the first in the line looks by itself after a while (taker/line.c).
 */
#ifndef ROUND_H
#define ROUND_H

#include "look.h"

struct fleet;

struct grant {
	const struct look_taker *waiter; /* of the look */
	struct record record;            /* of its permit */
};

/* Of which another round may have to follow. */
struct round_end {
	int64_t revision; /* of its look */
	bool whole;       /* all that wait are granted */
	bool more;        /* more may fit than one transaction can do */
	bool fair;        /* a taker that has come since is enough for it not to hold */
};

struct round {
	const struct look *look;
	bool lax; /* in a fair limiter who has come since may be passed */
	struct grant grant[LOOK_FIRST];
	size_t n;
	const struct look_taker *stopped; /* the next waiter, which does not fit */
	struct starts starts;             /* with those of its grants; and so: */
	struct turns turns;
	uint32_t declared; /* the limit that was declared last */
	struct round_end end;
};

/*
 * self: the taker whose round it is, or NULL; leaves: what it has does not count any more; operations: as many
 * may the transaction have, 0: nothing may be granted now.
 */
void round_plan(struct round *r, const struct look *look, const char *self, bool leaves,
		size_t operations);

/* What is planned for that waiter; NULL: nothing. */
const struct record *round_gives(const struct round *r, const char *self);

/* What must hold; and what is done then, with gets of the tail and the bell as the last. */
void round_add_compares(const struct round *r, struct txn *x);
void round_add_grants(const struct round *r, struct txn *x);
void round_add_declared(const struct round *r, struct txn *x); /* a part of that: cfg */

/* By the answer: must another round follow? */
bool round_goes_on(const struct round_end *end, const struct records_answer *a);

void round_ring(struct txn *x, const struct key *limiter);

/* Deletes the batch, the bell and the tail, as nobody waits. */
void round_add_silence(struct txn *x, const struct key *limiter);

/* Grants in the background what fits, by that look, which it takes over; NULL: by one of its own. */
void round_run(struct fleet *fleet, struct look *look);

#endif
