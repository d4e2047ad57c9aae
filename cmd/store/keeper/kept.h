/* SPDX-License-Identifier: ISC */
/*
 * kept.h - one taker as its keeper has it: a socket to the wrapper, a taker of the engine, what the
 * permit is tied to, and when the command must end.
 *
 *	AT_REST    asks nothing of the store
 *	ASKED      wants a permit: in the line, or on the way there
 *	HOLDS      has one; if the wrapper is gone, for as long as somebody has the guard open
 *	LEAVING    gives up its place, or the permit if that was faster: LEFT ends it
 *	RELEASING  gives the permit back: RELEASED ends it
 *
 * A taker that is at rest and has no wrapper any more is over.
 */
#ifndef KEPT_H
#define KEPT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "branch.h"
#include "engine/engine.h"
#include "expiry.h"
#include "source.h"
#include "talk.h"

/* A question under way, for a taker, or for nobody any more. */
struct ask {
	LIST_ENTRY(ask) entry;
	struct kept *kept;
	uint64_t number, ticket;
};

/* What the wrapper is still to be told, in this order, as its socket was full. */
struct owed {
	TAILQ_ENTRY(owed) entry;
	struct talk talk;
};

enum kept_stage { AT_REST, ASKED, HOLDS, LEAVING, RELEASING };

struct kept {
	LIST_ENTRY(kept) entry;
	LIST_HEAD(asks, ask) asks;
	TAILQ_HEAD(all_owed, owed) owed;
	struct source on_socket, on_guard, on_pidfd;
	struct branch *branch;
	struct engine_taker *taker; /* or NULL */
	struct ear *ear;            /* the taker's */
	enum kept_stage stage;
	int socket;    /* -1: the wrapper is gone, or has no more to do with this taker */
	int guard;     /* the read end, or -1 */
	int pidfd;     /* the command's, or -1 */
	int local;     /* keeps this machine's permit, or -1 */
	uint32_t cell; /* on the board */
	pid_t pid;     /* the command's, for people */
	pid_t wrapper; /* spared when all that has the guard open is killed; 0: nobody is */
	char self[STORE_SELF];
	struct expiry expiry;   /* HOLDS */
	bool gone;              /* HOLDS: the store has nothing of it any more */
	bool told;              /* HOLDS: people know from the wrapper that it is lost */
	uint64_t give_up_ns;    /* LEAVING, RELEASING */
	uint64_t exit_ns;       /* HOLDS: when it stops waiting for the command's exit */
	char away[ENGINE_TEXT]; /* why the store can't be reached; "": it can */
};

struct kept *kept_new(struct branch *b, int socket, uint32_t cell, pid_t wrapper);

/* Does what is due; returns when it is to be asked again (CLOCK_BOOTTIME, ns). */
uint64_t kept_step(struct kept *k, uint64_t now_ns);

bool kept_is_over(const struct kept *k);

void kept_free(struct kept *k); /* one that is over */

/* kept.c: it asks nothing of the store any more. */
void kept_rest(struct kept *k);

/* kept.c: the permit is given back. */
void kept_release(struct kept *k);

/*
 * kept.c: hears all that the wrapper has said, and whether anything still runs under the permit: a
 * keeper that goes on after a stop must not tell of what is over.
 */
void kept_catch_up(struct kept *k);

/* kept_expiry.c: does to the command what struct expiry says. */
void kept_carry_out(struct kept *k, enum expiry_deed deed, const char *why);

/* kept_events.c: what the engine tells of the taker; context is its struct kept. */
void kept_on_event(void *context, const struct engine_event *event);

/* kept_send.c: the wrapper hears it, if there still is one; now, or when it reads again. */
void kept_send(struct kept *k, const struct talk *t);
void kept_send_kind(struct kept *k, enum talk_kind kind);
void kept_send_lost(struct kept *k, const char *why);

/* Tells what is owed, as far as there is room; when to try again. */
uint64_t kept_send_unsent(struct kept *k, uint64_t now_ns);
void kept_drop_unsent(struct kept *k);

/* kept_place.c: sets t->place to what the view says of the taker of that name. */
void kept_place(const struct view *v, const char *self, struct talk *t);

#endif
