/* SPDX-License-Identifier: ISC */
/*
 * tally.h - counters: the values of n/, one for each seat that was ever held.
 *
 * Only the holder of a seat writes the seat's tally, by the transaction that releases its permit and only if
 * that ends it.  So none is counted twice, none forgets another, and no counter falls, whatever comes late.
 */
#ifndef TALLY_H
#define TALLY_H

#include "keys.h"
#include "records/records.h"
#include "view.h"

/* n/ of that seat. */
struct key key_tally(const struct key *limiter, uint32_t seat);

/* Gets it: tally_found() has it then. */
void tally_get(struct txn *x, const struct key *limiter, uint32_t seat);

/* The sum of all that the answer has; those that make no sense count nothing. */
struct tally tally_found(const struct key *limiter, const struct records_answer *a);

void tally_put(struct txn *x, const struct key *limiter, uint32_t seat, const struct tally *t);

/* One permit more, by the taker's times. */
void tally_count(struct tally *t, int64_t came_ms, int64_t since_ms, int64_t ended_ms);

#endif
