/* SPDX-License-Identifier: ISC */
/*
 * keeper_taker.h - one taker in its keeper: a socket to the wrapper, a taker of the fleet, what the permit
 * is tied to, and when the command must end.
 * Its states are those of protocol/state.h.  Without a wrapper, a permit is held as long as any
 * process has the guard open.
 *
 * A taker that is IDLE and has no wrapper any more is over.
 */
#ifndef KEEPER_TAKER_H
#define KEEPER_TAKER_H

#include <stdbool.h>
#include <sys/queue.h>

#include "protocol/fleet.h"
#include "protocol/state.h"
#include "expiry.h"
#include "source.h"
#include "talk.h"

struct ledger_row;

/* A limiter with a taker in this keeper. */
struct keeper_limiter {
	SLIST_ENTRY(keeper_limiter) entry;
	struct fleet *fleet; /* NULL: we could not open the store, or had no memory: */
	const char *why;     /* why */
	char name[FLK_NAME_MAX + 1];
};

/* A question under way, for a taker, or for none any more (NULL). */
struct ask {
	LIST_ENTRY(ask) entry;
	struct keeper_taker *taker;
	uint64_t number, ticket;
};

/* Messages that the wrapper has yet to receive, in this order: its socket was full. */
struct owed {
	TAILQ_ENTRY(owed) entry;
	struct talk talk;
};

struct keeper_taker {
	LIST_ENTRY(keeper_taker) entry;
	LIST_HEAD(asks, ask) asks;
	TAILQ_HEAD(all_owed, owed) owed;
	struct source on_socket, on_guard, on_pidfd;
	struct keeper_limiter *limiter;
	struct stake *stake; /* or NULL */
	enum permit_state state;
	int socket;    /* -1: the wrapper is gone, or has finished with this taker; or unclaimed */
	int guard;     /* the read end, or -1 */
	int pidfd;     /* the command's, or -1 */
	int local;     /* this machine's permit lasts while it is open; or -1 */
	uint32_t cell; /* on the board */
	pid_t pid;     /* the command's, for people */
	pid_t wrapper; /* not killed with the processes that have the guard open; 0: all are */
	char self[STORE_SELF];
	struct expiry expiry; /* HELD */
	bool gone;            /* HELD: the store keeps nothing of it any more */
	bool reported;        /* HELD: the wrapper has reported the loss to people */
	bool unclaimed;       /* from the ledger: its wrapper may live, and has yet to come */
	uint64_t look_ns;     /* unclaimed: when to look again whether it lives */
	uint64_t give_up_ns;  /* LEAVING, RELEASING */
	uint64_t exit_ns;     /* HELD: when it stops waiting for the command's exit */
	char *away;           /* why the store can't be reached; NULL: it can */
};

struct keeper_taker *keeper_taker_new(struct keeper_limiter *l, int socket, uint32_t cell,
				      pid_t wrapper);

/* Does what is due; returns when to call it again (CLOCK_BOOTTIME, ns). */
uint64_t keeper_taker_step(struct keeper_taker *k, uint64_t now_ns);

bool keeper_taker_is_over(const struct keeper_taker *k);

void keeper_taker_free(struct keeper_taker *k); /* only after keeper_taker_is_over() */

/* keeper_taker.c: the only way to another state. */
void keeper_taker_move(struct keeper_taker *k, enum permit_state state);

/* keeper_taker.c: it asks the store for nothing any more; and the wrapper hears that it has nothing. */
void keeper_taker_rest(struct keeper_taker *k);
void keeper_taker_end(struct keeper_taker *k);

/* keeper_taker.c: gives the place or whatever it has by then, or the permit, back. */
void keeper_taker_leave(struct keeper_taker *k);
void keeper_taker_release(struct keeper_taker *k);

/*
 * keeper_taker.c: reads all that the wrapper has said, and looks whether anything still runs under the
 * permit: a keeper that continues after a stop must not report what is over.
 */
void keeper_taker_catch_up(struct keeper_taker *k);

/* keeper_taker.c: ENTER or ADOPT.  row: it has one already; or NULL. */
void keeper_taker_begin(struct keeper_taker *k, const struct talk *t, struct ledger_row *row);

/* keeper_taker.c: its wrapper is gone. */
void keeper_taker_carry_on_alone(struct keeper_taker *k);

/* keeper_taker.c: it has nothing any more, and the store and the wrapper do not hear of it. */
void keeper_taker_give_up(struct keeper_taker *k);

/* keeper_taker_host.c: the taker of that row, which a keeper before had. */
void keeper_taker_restore(struct keeper_taker *k, struct ledger_row *row);

/* keeper_taker_host.c: the deputy gets what it lasts by. */
void keeper_taker_entrust(const struct keeper_taker *k);

/* keeper_taker_host.c: unclaimed; returns when to look again, if it still is. */
uint64_t keeper_taker_look_for_wrapper(struct keeper_taker *k, uint64_t now_ns);

/* keeper.c: the wrapper has come, by that taker, and the one that stood in for it goes. */
void keeper_supersede(const struct keeper_taker *by);

/* keeper.c: whether the taker's wrapper lives. */
bool keeper_has_wrapper(const struct keeper_taker *k);

/* keeper_taker_expiry.c: does to the command what struct expiry says. */
void keeper_taker_carry_out(struct keeper_taker *k, enum expiry_deed deed, const char *why);

/* keeper_taker_events.c: an event of its stake. */
void keeper_taker_on_event(struct keeper_taker *k, const struct fleet_event *event);

/*
 * keeper_taker_send.c: sends to the wrapper, if it still exists; now, or when it reads again.  text: may be
 * NULL.
 */
void keeper_taker_send(struct keeper_taker *k, const struct talk *t);
void keeper_taker_say(struct keeper_taker *k, enum talk_kind kind, int code, const char *text);

/* A line on stderr: ours, or the wrapper's; note: not if it is quiet. */
void keeper_taker_write(struct keeper_taker *k, bool note, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Sends what is owed, as far as there is room, and drops it if the wrapper is gone; returns when to try
 * again.
 */
uint64_t keeper_taker_send_unsent(struct keeper_taker *k, uint64_t now_ns);

/* keeper_taker_look.c: asks the store, and sends the wrapper the answer. */
void keeper_taker_look(struct keeper_taker *k, const struct talk *t);

#endif
