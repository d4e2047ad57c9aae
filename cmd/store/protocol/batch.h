/* SPDX-License-Identifier: ISC */
/*
 * batch.h - the first of a long line.
 *
 * Some services read and sort the whole line to find its first waiters.  So who has read them from a long line,
 * and grants, leaves the names of those that still wait in `batch'; and the next granters read the first of these
 * alone, as many as may fit, and leave the others.
 *
 * Whoever comes, comes after all that wait.  So what was the beginning of the line at some revision is that for
 * ever, as far as its waiters are still there; and a place that was created since is another one.  When none
 * of them is left, a granter reads the line again.  So a batch may be old or missing, and is never wrong.
 */
#ifndef BATCH_H
#define BATCH_H

#include "look.h"

extern unsigned batch_least; /* a line is long that has so many; a variable for tests */

/*
 * By a look at the whole line, or for a claim: how many of its first waiters are worth reading; 0: the line is not
 * long.
 */
size_t batch_most(const struct look *l);

/*
 * Gets the batch; and by the answer, the look at so many of its waiters, or at the whole line if there is
 * none.
 */
void batch_get(struct txn *x, const struct key *limiter);
struct txn *batch_look_txn(struct look *l, const struct records_answer *batch, size_t most);

/* The revision as of which it was the beginning of the line; 0: it is no batch, or makes no sense. */
int64_t batch_revision(const struct key *limiter, const struct record_kv *kv);

/* look_read() of that, of a LOOK_LINE or a LOOK_LONG; is_spent: it must be a LOOK_LONG. */
bool batch_look_read(struct look *l, const struct records_answer *answer, bool *is_spent);

struct round;

/* Puts what is left of the batch, or of the line as it was read, without those that the round grants. */
void batch_put(const struct round *r, struct txn *x);

#endif
