/* SPDX-License-Identifier: ISC */
/*
 * fleet.h - limiters in a store that a fleet of machines shares.
 *
 * A process opens the store once, and in it a fleet for each limiter, or for all limiters of the path.
 * All fleets share the store's connection.
 *
 * All of it is asynchronous, and in one thread: the caller that drives a store sleeps until
 * fleet_store_fd() is readable or fleet_store_due() has come, and calls fleet_store_step(), which delivers
 * every event and answer of all its fleets.  No other call delivers any.  Times are CLOCK_BOOTTIME, ns.
 */
#ifndef FLEET_H
#define FLEET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "records/url.h"
#include "view.h"

#define FLEET_KEY  512
#define FLEET_TEXT 400

struct fleet_store;
struct fleet;
struct fleet_taker;

/* ---- an open store, and its fleets --------------------------------------------------------- */

/* Of all takers of one keeper, whatever their limiters. */
struct fleet_options {
	const struct url *url;
	const char *life; /* the name of the keeper; NULL: each fleet gets a new one */
	bool heir;        /* it takes over from a keeper that had that name before */
	uint32_t ttl_s;   /* treat a taker as dead after this long without contact */
	uint32_t grace_s; /* then keep its permit this much longer */
	bool manual; /* never take a permit back from the dead: only flocklimitctl break does */
};

/*
 * Codes are as in flocklimit.h: -FLK_CLOSED, -FLK_FULL, -FLK_HEAVY, -FLK_EVICTED, -EAGAIN;
 * -FLK_STORE for a fault of the store that waiting does not fix, with a sentence that says what to
 * do.  A store that can't be reached is no error: its fleets try again.
 */
int fleet_store_open(struct fleet_store **store, const struct fleet_options *options,
		     char why[FLEET_TEXT]);

/* Closes its fleets, too; not from within a step. */
void fleet_store_close(struct fleet_store *store);

int fleet_store_fd(const struct fleet_store *store);
uint64_t fleet_store_due(const struct fleet_store *store); /* UINT64_MAX: never */
void fleet_store_step(struct fleet_store *store);

/* limiter: NULL for fleet_ask() of ASK_LIST alone.  NULL only for want of memory. */
struct fleet *fleet_open(struct fleet_store *store, const char *limiter);

/*
 * Frees its takers, and calls no function of theirs, nor of its questions and followers; not from within
 * a step.  The store keeps the records of its takers.
 */
void fleet_close(struct fleet *fleet);

/* ---- takers -------------------------------------------------------------------------------- */

struct fleet_want {
	uint32_t weight, limit; /* limit: declared, or 0 */
	uint32_t fallback;      /* the limit where none was ever declared */
	bool no_wait;           /* -EAGAIN rather than to wait */
	bool limit_queue;
	uint32_t max_queue;
	/*
	 * What it declares for the limiter: of FLK_SET_PACE and FLK_SET_FAIR.  0: nothing, or it has done
	 * so.
	 */
	unsigned which;
	uint32_t fair;
	struct flk_pace pace;
	/* In a fair limiter, by what it may be counted; share: 0 stands for 1. */
	uint32_t share;
	pid_t session;
	char key[FLK_KEY];
	bool tells; /* that these two have no effect, if that is so */
	enum flk_role role;
	pid_t pid;
	uid_t uid;
	char command[FLK_COMMAND];
};

enum fleet_kind {
	FLEET_QUEUED,  /* it stands in the line: ticket */
	FLEET_GRANTED, /* it holds: ticket, fence, weight, limit, seat, key, alive_ns */
	FLEET_REFUSED, /* the taker neither waits nor holds: code, text; pid, uid, host of the evictor */
	FLEET_RENEWED,  /* it holds: alive_ns */
	FLEET_LOST,     /* it no longer holds: text says why; the store keeps nothing of it */
	FLEET_LEFT,     /* after fleet_leave(): it neither waits nor holds */
	FLEET_RELEASED, /* after fleet_release(): others may have its units */
	FLEET_AWAY,     /* the store can't be reached, and is tried again: text */
	FLEET_BACK,     /* the store can be reached again */
	FLEET_NOTE      /* for people: text; a permit was re-attached, a place lost, ... */
};

struct fleet_event {
	enum fleet_kind kind;
	int code;
	uint64_t ticket;
	uint64_t fence; /* it rises from permit to permit, in whatever order they are granted */
	uint32_t weight, limit, seat;
	uint64_t alive_ns; /* when the call was sent by which the store last knew that it lives:
			      no other taker gets its permit before alive_ns + ttl + grace */
	uint32_t pid, uid;
	const char *key; /* of the permit in the store */
	const char *host;
	const char *text;
};

typedef void fleet_report(void *context, const struct fleet_event *event);

/*
 * self: a new name, which no taker ever had; or, for fleet_adopt(), the name of a taker that has
 * lost its keeper.
 */
int fleet_taker_new(struct fleet_taker **taker, struct fleet *fleet, const char *self,
		    fleet_report *report, void *context);

/* Sends the store nothing, and report() is not called again. */
void fleet_taker_free(struct fleet_taker *t);

/* Takes a permit, or a place in the line: QUEUED, GRANTED or REFUSED. */
void fleet_enter(struct fleet_taker *t, const struct fleet_want *want);

/*
 * Continues with what the store knows of the taker.  Reports QUEUED or GRANTED.  If the store knows
 * nothing of it: LOST if it held (held: the wrapper knows of the grant), else REFUSED.
 */
void fleet_adopt(struct fleet_taker *t, const struct fleet_want *want, bool held);

/* Gives up the place or, if the permit was granted meanwhile, the permit: LEFT. */
void fleet_leave(struct fleet_taker *t);

/* For people: how the command ended, as for flk_ended() and flk_took().  Its release tells it, if it can. */
void fleet_ended(struct fleet_taker *t, int32_t status, uint64_t memory, uint64_t cpu_ns);

/*
 * Gives the permit back: RELEASED.  It is tried until the store has the release, as long as
 * the taker exists.
 */
void fleet_release(struct fleet_taker *t);

/* ---- questions ----------------------------------------------------------------------------- */

enum fleet_ask_kind {
	ASK_LOOK,          /* view */
	ASK_LIST,          /* names */
	ASK_SET,           /* which, to: the numbers of setting.h */
	ASK_CANCEL,        /* the waiter with that ticket; -FLK_NOPERMIT if there is none */
	ASK_BREAK,         /* the holder with that ticket, alive or not; -FLK_NOPERMIT */
	ASK_REMOVE,        /* all keys; -FLK_BUSY while any taker holds or waits */
	ASK_REMOVE_UNUSED, /* -FLK_BUSY, too, while an operator's setting is in force */
	ASK_CHECK          /* -FLK_DAMAGED: text has a line for each fault */
};

/* -ENOENT (but not for ASK_LOOK and FLK_SET_DECLARED) if the store keeps nothing of that limiter. */
struct fleet_question {
	enum fleet_ask_kind kind;
	unsigned which;
	struct flk_settings to;
	uint64_t ticket;
};

struct fleet_answer {
	int code; /* 0; -ETIMEDOUT: the store could not be reached, text says why; as above */
	const char *text;
	const struct view *view;
	const char *const *names; /* sorted */
	size_t n;
};

typedef void fleet_answers(void *context, const struct fleet_answer *answer);

/* Retries for patience_ns; answers once. */
void fleet_ask(struct fleet *fleet, const struct fleet_question *q, uint64_t patience_ns,
	       fleet_answers *answer, void *context);

/*
 * Reports what the store remembers of what happened, and what happens from now on: each an event of flocklimit.h, with the host of the taker or
 * operator that it is about (NULL: the store does not say).  Numbers rise, and two followers give an event
 * one number.  An event of kind 0 is about the
 * follower itself: with code 0, it misses no event from here on; with any other code it has ended,
 * and `host' says why.
 */
typedef void fleet_happens(void *context, const struct flk_event *event, const char *host);
void fleet_follow(struct fleet *fleet, fleet_happens *happens, void *context);

#endif
