/* SPDX-License-Identifier: ISC */
/*
 * look.h - a limiter as the store's keys described it at one revision.  The changes in [c, m) that
 * a watch reports from the next revision on keep it up to date.
 */
#ifndef LOOK_H
#define LOOK_H

#include "keys.h"
#include "record.h"
#include "records/records.h"
#include "starts.h"
#include "turns.h"
#include "view.h"

/* What is read: cfg and the holders; and of the rest, no more than the reader needs. */
enum look_kind {
	LOOK_NEW,   /* whether anybody waits, and how many */
	LOOK_BATCH, /* the tail, and whichever waiters its user adds: batch.h */
	LOOK_LINE,  /* the first waiters and the tail: for a grant */
	LOOK_LONG,  /* the same of a long line, with more waiters, for a batch */
	LOOK_LIVES, /* all waiters, the lives and their marks: for a repair */
	LOOK_ALL    /* ... and who they are, and n/: for people */
};

#define LOOK_FIRST 60               /* waiters of a LOOK_LINE: more can't be granted at once */
#define LOOK_NEXT  (2 * LOOK_FIRST) /* of a LOOK_LONG */

struct look_taker {
	char self[STORE_SELF];
	struct record record;
	struct person person; /* LOOK_ALL */
	int64_t created, changed;
};

/* A life, by what LOOK_LIVES found of it. */
struct look_life {
	char name[STORE_SELF];
	unsigned leases;      /* that have its l/; 0: it is suspect, and has: */
	int64_t lease, shown; /* the youngest of them, and since when */
	int64_t mark, marked; /* s/: created, changed; 0: none */
	bool grace;           /* t/ */
};

struct look {
	const struct key *limiter;
	int64_t read;     /* the answer's revision: changes up to it are skipped */
	int64_t revision; /* the last change that was applied, or that */
	int64_t batch;    /* the revision of the batch by which it was read; 0: the line was read */
	char *unread;     /* what is left of that batch */
	int64_t config_mod;
	struct flk_settings config;
	struct starts starts; /* of its pace */
	struct turns *turns;  /* whose turn it is; NULL: all keys begin anew */
	struct look_taker
	    *holder; /* in the order of names; those that a watch reported at the end */
	size_t holders, holder_room;
	struct look_taker *waiter; /* by ticket */
	size_t waiters, waiter_room;
	uint64_t in_line;       /* how many wait */
	struct look_life *life; /* in the order of names */
	size_t lives, life_room;
	char tail[STORE_SELF], tail_life[STORE_SELF]; /* "": not there, or not read */
	int64_t tail_mod;
	bool has_lives; /* it was read as LOOK_LIVES, or LOOK_ALL */
	char *trouble;  /* a sentence, if the last look_read() failed */
};

void look_init(struct look *l, const struct key *limiter); /* which it keeps a pointer to */
void look_free(struct look *l);                            /* frees its members */
void look_line(struct look *l); /* the next reads the line, and no batch */

/* Gets cfg, what the starts have used of its pace, and whose turn it is. */
void look_add_steering(struct txn *x, const struct key *limiter);
void look_add(struct txn *x, const struct key *limiter, enum look_kind kind);
struct txn *look_txn(const struct key *limiter, enum look_kind kind);

/*
 * Reads all that any operation of the answer gave.  False if it makes no sense; l->trouble says what.
 */
bool look_read(struct look *l, enum look_kind kind, const struct records_answer *answer);

/* Reads who the takers are, as far as the answer has that. */
void look_meet(struct look *l, const struct records_answer *answer);

/* look_apply.c: true if anything has changed.  Skips changes that are older than l. */
bool look_apply(struct look *l, const struct records_change *change);

struct look_taker *look_holder(const struct look *l, const char *self);
struct look_taker *look_waiter(const struct look *l, const char *self);
struct look_life *look_life(const struct look *l, const char *name);

/* Where that name is among structs of that size, which begin with their names and are in their order; or would be. */
size_t look_place(const void *array, size_t n, size_t size, const char *name);

/*
 * The waiters of a fair limiter: n in the order of their turns, and then those that the look knows to be
 * dead, which keep their places, and nobody waits for them.  NULL for want of memory.
 */
struct rank *look_rank(const struct look *l, size_t *n);

/* A fair limiter has more waiters than a look without lives has read: one of those may be the next. */
bool look_is_short(const struct look *l);

/* What the holders leave, but for that one's permit; NULL: of all.  Begun with { .set, .starts }. */
void look_fill(const struct look *l, struct room *room, const char *but);

/* Whether one unit more would fit for any of the waiters that were read, but for the pace. */
bool look_has_room(const struct look *l);

/* By a look that has the lives.  A record that makes no sense has none: an operator sees to it. */
bool look_is_alive(const struct look *l, const struct look_taker *t);

/* How many living takers wait: the first of them repairs, and is granted what is free. */
size_t look_living(const struct look *l);

uint64_t look_ticket(const struct look_taker *t);

/* Of a permit with that seat, which was created at that revision: one transaction grants a seat once. */
uint64_t look_fence(int64_t created, uint32_t seat);

/* At the end, all zero; NULL for want of memory. */
struct look_taker *look_add_holder(struct look *l);
struct look_taker *look_add_waiter(struct look *l);

/* The one that is there, or a new one, which has that name. */
struct look_life *look_add_life(struct look *l, const char *name);

/* It has that l/, too. */
void look_show_life(struct look_life *life, const struct record_kv *kv);

/* look_view.c: the caller frees it; NULL for want of memory. */
struct view *look_view(const struct look *l);

#endif
