/* SPDX-License-Identifier: ISC */
/*
 * look.h - a limiter as the store's keys described it at one revision.  The changes in [c, m) that
 * a watch reports from the next revision on keep it up to date.
 */
#ifndef LOOK_H
#define LOOK_H

#include "protocol/record.h"
#include "protocol/view.h"
#include "records/records.h"
#include "keys.h"

/* A taker reads no more of the line than it must; people see all of it. */
enum look_line { LOOK_FIRST, LOOK_MINE, LOOK_ALL };

struct look_holder {
	char self[STORE_SELF];
	struct record record;
	bool alive;           /* its l/ is there */
	int64_t created, mod; /* of h/ */
	int64_t lease;        /* of l/ */

	/* For reclaim.c, while the holder is not alive; all zero again when it is. */
	int64_t seen;     /* mod revision of s/ as another taker put it; 0: not known to be there */
	uint64_t seen_ns; /* when this taker first saw that revision */
	int64_t marked;   /* the mod revision of s/ that ripe_ns belongs to; 0: not yet known */
	uint64_t ripe_ns; /* when to handle this holder again */
	bool over;        /* its grace is over: t/ is gone */
};

struct look_waiter {
	char self[STORE_SELF];
	struct record record; /* LOOK_ALL only */
	int64_t created, lease;
};

struct look {
	struct key limiter;
	int64_t revision; /* the store's revision, or that of the last change that was applied */
	int64_t read;     /* the store's revision when all of it was read */
	int64_t config_mod;
	struct flk_settings config;
	struct look_holder
	    *holder; /* in the order of names after look_read(); later ones at the end */
	size_t holders, room;
	struct look_waiter *waiter; /* by ticket; LOOK_FIRST: any one; LOOK_MINE: none */
	size_t waiters;
	uint64_t in_line; /* how many wait; not with LOOK_MINE */

	/* LOOK_MINE: the asker's place. */
	bool mine; /* its w/ is there, since: */
	int64_t created;
	char before[STORE_SELF]; /* the waiter before it; "": none */
	int64_t before_created;  /* of its w/ */

	char *trouble; /* a sentence, if the last look_read() failed */
};

void look_init(struct look *l, const struct key *limiter);
void look_free(struct look *l); /* frees its members */

/* A transaction; self and created (of its w/) are for LOOK_MINE. */
struct txn *look_txn(const struct key *limiter, enum look_line line, const char *self,
		     int64_t created);

/*
 * A LOOK_MINE.  The server's work for a full one grows with the waiters.  If l knows the waiter before
 * the asker, and both still stand in the line, this one reads cfg alone: see look_same().
 */
struct txn *look_txn_again(const struct look *l, const char *self, int64_t created);
bool look_same(const struct records_answer *reply);

/* False if the answer makes no sense; l->trouble says what.  Keeps what it knew of suspects. */
bool look_read(struct look *l, enum look_line line, const struct records_answer *reply);

/* The same for cfg alone. */
bool look_read_config(struct look *l, struct records_found found);

/* look_apply.c: true if anything has changed.  Skips changes that are older than l. */
bool look_apply(struct look *l, const struct records_change *change);

struct look_holder *look_find(const struct look *l, const char *self);

/* A new one at the end, all zero; NULL for want of memory. */
struct look_holder *look_add(struct look *l);

/* look_view.c: the caller frees it; NULL for want of memory. */
struct view *look_view(const struct look *l);

#endif
