/* SPDX-License-Identifier: ISC */
/*
 * engine.h - one limiter (or all limiters of a prefix) in a distributed engine.  An engine
 * implements these functions; no code above this line knows which engine it is.
 *
 * All of it is asynchronous, and in one thread: the caller that drives an engine sleeps until
 * engine_fd() is readable or engine_due() has come, and calls engine_step(), which delivers every
 * event and answer.  No other call delivers any.  Times are CLOCK_BOOTTIME, ns.
 *
 * What an engine must be able to do, beyond keeping records:
 *  - number takers in the order of their arrival, for good: tickets;
 *  - grant so that two takers that decide at once can't both be right: compare and set over
 *    several records;
 *  - notify one taker of a change that concerns it, without polling;
 *  - notice by itself that a client is gone, and report it, without giving its permit away.
 */
#ifndef ENGINE_H
#define ENGINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "url.h"
#include "view.h"

#define ENGINE_KEY  512
#define ENGINE_TEXT 400

struct engine;
struct engine_taker;

struct engine_options {
	const struct url *url;
	const char *limiter; /* NULL: only engine_ask() of ASK_LIST */
	uint32_t ttl_s;      /* treat the taker as dead after this long without contact */
	uint32_t grace_s;    /* then keep its permit this much longer */
	bool manual; /* never take a permit back from the dead: only flocklimitctl break does */
};

/*
 * Codes are as in flocklimit.h: -FLK_CLOSED, -FLK_FULL, -FLK_HEAVY, -FLK_EVICTED, -EAGAIN;
 * -FLK_STORE for a fault of the store that waiting does not fix, with a sentence that says what to
 * do.  A store that can't be reached is no error: the engine retries.
 */
int engine_open(struct engine **engine, const struct engine_options *options,
		char why[ENGINE_TEXT]);

/* Sends the store nothing. */
void engine_close(struct engine *e);

int engine_fd(const struct engine *e);
uint64_t engine_due(const struct engine *e); /* UINT64_MAX: never */
void engine_step(struct engine *e);

/* ---- takers -------------------------------------------------------------------------------- */

struct engine_want {
	uint32_t weight, limit; /* limit: declared, or 0 */
	uint32_t fallback;      /* the limit where none was ever declared */
	bool no_wait;           /* -EAGAIN rather than to wait */
	bool limit_queue;
	uint32_t max_queue;
	enum flk_role role;
	pid_t pid;
	uid_t uid;
	char command[FLK_COMMAND];
};

enum engine_kind {
	ENGINE_QUEUED,  /* it stands in the line: ticket */
	ENGINE_GRANTED, /* it holds: ticket, weight, limit, seat, key, alive_ns */
	ENGINE_REFUSED, /* the taker neither waits nor holds: code, text; pid, uid, host of the evictor */
	ENGINE_RENEWED,  /* it holds: alive_ns */
	ENGINE_LOST,     /* it no longer holds: text says why; the store keeps nothing of it */
	ENGINE_LEFT,     /* after engine_leave(): it neither waits nor holds */
	ENGINE_RELEASED, /* after engine_release(): others may have its units */
	ENGINE_AWAY,     /* the store can't be reached, and the engine retries: text */
	ENGINE_BACK,     /* the store can be reached again */
	ENGINE_NOTE      /* for people: text; a permit was re-attached, a place lost, ... */
};

struct engine_event {
	enum engine_kind kind;
	int code;
	uint64_t ticket;
	uint32_t weight, limit, seat;
	uint64_t alive_ns; /* when the call was sent by which the store last knew that it lives:
			      no other taker gets its permit before alive_ns + ttl + grace */
	uint32_t pid, uid;
	const char *key; /* of the permit in the store */
	const char *host;
	const char *text;
};

typedef void engine_report(void *context, const struct engine_event *event);

/*
 * self: a new name, which no taker ever had; or, for engine_adopt(), the name of a taker that has
 * lost its keeper.
 */
int engine_taker_new(struct engine_taker **taker, struct engine *e, const char *self,
		     engine_report *report, void *context);

/* Sends the store nothing, and report() is not called again. */
void engine_taker_free(struct engine_taker *t);

/* Takes a permit, or a place in the line: QUEUED, GRANTED or REFUSED. */
void engine_enter(struct engine_taker *t, const struct engine_want *want);

/*
 * Continues with what the store knows of the taker.  Reports QUEUED or GRANTED.  If the store knows
 * nothing of it: LOST if it held (held: the wrapper knows of the grant), else REFUSED.
 */
void engine_adopt(struct engine_taker *t, const struct engine_want *want, bool held);

/* Gives up the place or, if the permit was granted meanwhile, the permit: LEFT. */
void engine_leave(struct engine_taker *t);

/*
 * Gives the permit back: RELEASED.  The engine retries until the store has the release, as long as
 * the taker exists.
 */
void engine_release(struct engine_taker *t);

/* For people: the process that works under the permit. */
void engine_working(struct engine_taker *t, pid_t pid);

/* ---- questions ----------------------------------------------------------------------------- */

enum engine_ask_kind {
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
struct engine_question {
	enum engine_ask_kind kind;
	unsigned which;
	struct flk_settings to;
	uint64_t ticket;
};

struct engine_answer {
	int code; /* 0; -ETIMEDOUT: the store could not be reached, text says why; as above */
	const char *text;
	const struct view *view;
	const char *const *names; /* sorted */
	size_t n;
};

typedef void engine_answers(void *context, const struct engine_answer *answer);

/* Retries for patience_ns; answers once. */
void engine_ask(struct engine *e, const struct engine_question *q, uint64_t patience_ns,
		engine_answers *answer, void *context);

/*
 * Reports what happens from now on: each an event of flocklimit.h, with the host of the taker or
 * operator that it is about (NULL: the store does not say).  An event of kind 0 is about the
 * follower itself: with code 0, it misses no event from here on; with any other code it has ended,
 * and `host' says why.
 */
typedef void engine_happens(void *context, const struct flk_event *event, const char *host);
void engine_follow(struct engine *e, engine_happens *happens, void *context);

#endif
