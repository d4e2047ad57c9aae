/* SPDX-License-Identifier: ISC */
/*
 * internal.h - the store's limiters and takers as lib/ops.h defines them: the wrapper's side.
 */
#ifndef STORE_INTERNAL_H
#define STORE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/queue.h>

#include "protocol/fleet.h"
#include "protocol/state.h"
#include "flocklimit.h"
#include "keeper/expiry.h"
#include "host.h"
#include "link.h"
#include "store.h"
#include "kind.h"
#include "talk.h"

/* The pipe that keeps the permit: see guard.c. */
struct guard {
	int fd, end; /* its write end, and its read end; -1 */
	bool lent;   /* the write end is not ours to close */
};

/* A pipe of flk_guard_open().  We know it by its inode: its write end may be another descriptor by now. */
struct common_guard {
	SLIST_ENTRY(common_guard) entry;
	dev_t dev;
	ino_t ino;
	int end; /* the read end */
};

struct session; /* operator/session.c */

struct store_limiter {
	struct flk_base base; /* first: see lib/ops.h */
	uint32_t fallback;    /* the limit where no taker ever declared one */
	unsigned which;       /* what its takers declare: see struct fleet_want */
	uint32_t fair;
	struct flk_pace pace;
	atomic_bool told;  /* one of its takers tells what has no effect: the others need not */
	struct flk *local; /* --local: see acquire.c; or NULL */
	struct session *session; /* what an operator asks by; NULL: none yet */
	pthread_mutex_t lock;    /* guards what follows */
	SLIST_HEAD(common_guards, common_guard) guards;
	char name[FLK_NAME_MAX + 1];
	char where[URL_TEXT + FLK_NAME_MAX + 2]; /* for people */
};

struct store_taker {
	struct flk *flk;               /* first: see lib/ops.h */
	LIST_ENTRY(store_taker) entry; /* in the list of its thread's takers */
	struct flk_taker *local;       /* or NULL */
	const void *owner;             /* the thread, by an address of its own; and the process: */
	pid_t process;
	enum permit_state state; /* a new keeper continues from there: hand_over_all() in await.c */
	struct tie tie;
	int code;                /* why it is IDLE again */
	int status;              /* of the command: what flk_ended() said, or FLK_UNKNOWN */
	uint64_t memory, cpu_ns; /* and flk_took() */
	int bell;                /* an eventfd: flk_cancel() and flk_interrupt() ring it */

	struct guard guard;
	int pidfd; /* of the command, or -1 */
	pid_t working;

	pid_t evictor;
	uid_t evictor_uid;

	_Atomic uint32_t cancelled, interrupted;
	bool local_held;
	bool local_refused; /* this machine's line refused it */
	bool away;          /* the store can't be reached */
	bool away_reported; /* we have reported that to people */
	bool lost;          /* the permit was lost while it was held */
	bool killed;        /* we have killed its command */
	bool answered;
	uint64_t away_ns;  /* since when the store is away: CLOCK_MONOTONIC */
	uint64_t lost_ns;  /* when the permit was lost: CLOCK_MONOTONIC */
	uint64_t again_ns; /* there is no keeper: when to try again */
	uint64_t asked;    /* the number of the last question */

	struct flk_permit permit; /* WAITING: the ticket */
	struct fleet_want want;
	struct talk question, answer;
	char self[STORE_SELF]; /* its name for this wait and permit; never used again */
	char evictor_host[STORE_HOST];
	char key[FLEET_KEY]; /* of the permit in the store */
	char lost_text[FLEET_TEXT];
};

/* The takers of this thread. */
LIST_HEAD(taker_list, store_taker);
extern _Thread_local struct taker_list takers_of_thread;

/* The callers of flocklimit.h hold pointers to this. */
static inline struct store_taker *
taker_of(struct flk_taker *t)
{
	return (struct store_taker *)t;
}

static inline const struct store_taker *
const_taker_of(const struct flk_taker *t)
{
	return (const struct store_taker *)t;
}

static inline struct store_limiter *
limiter_of(const struct store_taker *t)
{
	return (struct store_limiter *)t->flk;
}

/* The permit that a grant or an answer is about.  A store grants in the order of the tickets. */
static inline struct flk_permit
taker_permit(const struct talk *m)
{
	return (struct flk_permit){ .ticket = m->ticket,
				    .weight = m->weight,
				    .limit = m->limit,
				    .seat = m->seat,
				    .fence = m->fence };
}

/*
 * limiter.c: the text that store_strerror() has for -FLK_STORE and -FLK_LOST: this thread's last.
 * Returns -FLK_STORE.
 */
int store_trouble(const char *text);

/* taker.c */
void wrapper_move(struct store_taker *t, enum permit_state state);
bool taker_is_strange(const struct store_taker *t);
int taker_must_hold(const struct store_taker *t); /* 0, -FLK_STRANGER, -FLK_NOPERMIT */

/* Gives back this machine's permit or place in its line, if there is one (--local). */
void taker_give_local_back(struct store_taker *t);

/* A descriptor that the taker owns: this machine's permit lasts while it is open; or an error. */
int taker_local_guard(const struct store_taker *t);

/* A new name in the store, for one wait and one permit. */
void taker_name(char self[STORE_SELF]);

/* await.c */

/* Not SIGIO: a jobserver acts on each SIGIO, and would take one of ours for an answer. */
#define AWAIT_SIGNAL SIGURG

/* From now on this thread gets that signal when the keeper sends one of its takers a message. */
void await_by_signal(void);
void await_tied(const struct store_taker *t); /* the taker has another socket now */

/* The mask of await() if its caller passes none: see kind_open(). */
void await_mask(const sigset_t *mask);

/* Sends; if the keeper is dead, starts another, hands everything over and sends it the same. */
int await_send(struct store_taker *t, const struct talk *m, int fd);

/* Reads all messages that have come: 0, or a negative code if no keeper can be started. */
int await_hear(struct store_taker *t);

/*
 * Waits until `done', the deadline (CLOCK_MONOTONIC; UINT64_MAX: none) or, with `rings',
 * flk_cancel() or flk_interrupt(): 0, -ETIMEDOUT, -FLK_CANCELLED, -EINTR, or the error.
 */
int await(struct store_taker *t, bool (*done)(const struct store_taker *t), uint64_t deadline,
	  const sigset_t *mask, bool rings);

/* Whether flk_cancel() or flk_interrupt() rang: -FLK_CANCELLED, -EINTR; or 0. */
int await_bell(struct store_taker *t);

/* guard.c: closes the pipe and the pidfd. */
void guard_drop(struct store_taker *t);

#endif
