/* SPDX-License-Identifier: ISC */
/*
 * turns.h - the order of the line in a fair limiter of a store: start-time fair queueing, as in lib/fair.c.
 *
 * On a line without end, each key has an end: so far reaches what was given to it, a unit of weight as
 * TURN_UNIT divided by the key's share.  The turn is the largest tag that was granted so far.  A key's
 * first waiter has the key's end as its tag or, if that is behind, the turn; the key's next waiter has the
 * end that the key will have then.  The line is in the order of the tags, and of the tickets where these
 * are equal.
 *
 * around has the turn and the ends that are beyond it: a key whose end is not there begins at the turn.  If
 * there are too many of them, the turn moves to the smallest, so that every end is reached in time; then a
 * key which began after others may have to wait for more than one turn of each.
 *
 * A transaction that grants in a fair limiter compares around, and puts it; and nobody may have come since
 * the look, who could be the next.  A limiter that is not fair has no such key, and pays for none.
 */
#ifndef TURNS_H
#define TURNS_H

#include "keys.h"
#include "record.h"
#include "records/records.h"

#define TURNS_KEYS 256

struct turns {
	int64_t changed; /* the revision */
	bool damaged;    /* what is there makes no sense: all keys begin anew */
	uint64_t turn;
	size_t n;
	struct {
		uint64_t key, end;
	} of[TURNS_KEYS];
};

/* A number for the key to which a limiter that is fair in this way counts a taker; 0: it is not fair. */
uint64_t turns_key(uint32_t fair, const struct fleet_want *want, const char *host);

/* The same of that record; 0, too, if the limiter was not fair in this way when its taker came. */
uint64_t turns_key_of(uint32_t fair, const struct record *r);

/* That key for people, perhaps cut: a user, a session and its machine, or a word; "": it is not fair. */
void turns_key_text(uint32_t fair, const struct fleet_want *want, const char *host,
		    char key[FLK_KEY]);

/* A new one; NULL for want of memory. */
struct turns *turns_read(const struct record_kv *kv);

/* One waiter, and where it stands. */
struct rank {
	const struct record *record;
	size_t at; /* in the order of the tickets */
	uint64_t key, tag;
};

/* Gives all their tags, and sorts them by these.  turns: NULL, if all keys begin anew. */
void turns_rank(const struct turns *turns, uint32_t fair, struct rank *rank, size_t n);

/* That record's taker is granted. */
void turns_give(struct turns *turns, uint32_t fair, const struct record *r);

/* Nothing, if `fair' is none. */
void turns_add_compare(uint32_t fair, const struct turns *read, struct txn *x,
		       const struct key *limiter);
void turns_put(uint32_t fair, const struct turns *turns, struct txn *x, const struct key *limiter);

/* With the limiter, or when it is not fair any more. */
void turns_delete(struct txn *x, const struct key *limiter);

#endif
