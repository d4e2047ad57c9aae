/*
 * seat.h - one taker as its keeper has it: a socket to the wrapper, a taker of the engine, what the
 * permit is tied to, and the ward over the command.
 *
 *	AT_REST    asks nothing of the store
 *	ASKED      wants a permit: in the line, or on the way there
 *	HOLDS      has one; if the wrapper is gone, for as long as somebody has the guard open
 *	LEAVING    gives up its place, or the permit if that was faster: LEFT ends it
 *	RELEASING  gives the permit back: RELEASED ends it
 *
 * A seat without a wrapper that is at rest is over.
 */
#ifndef SEAT_H
#define SEAT_H

#include <stdbool.h>
#include <sys/queue.h>

#include "engine.h"
#include "talk.h"
#include "ward.h"

struct seat;

/* What epoll(7) tells us of. */
struct source {
	void (*ready)(struct source *s);
	struct seat *seat;
};

/* A limiter that some seat is of. */
struct branch {
	SLIST_ENTRY(branch) entry;
	struct source on_engine;
	struct engine *engine; /* NULL: it could not be opened, `why' */
	char why[ENGINE_TEXT];
	char limiter[FLK_NAME_MAX + 1];
};

/*
 * The engine's taker tells its ear, which may outlive the seat: until the taker is freed, it is told
 * of, and there is nobody to hear it.
 */
struct ear {
	struct seat *seat; /* or NULL */
};

/* A question under way, for a seat, or for nobody any more. */
struct ask {
	LIST_ENTRY(ask) entry;
	struct seat *seat;
	uint64_t number, ticket;
};

/* What the wrapper is still to be told, in this order, as its socket was full. */
struct owed {
	TAILQ_ENTRY(owed) entry;
	struct talk talk;
};

enum seat_stage { AT_REST, ASKED, HOLDS, LEAVING, RELEASING };

struct seat {
	LIST_ENTRY(seat) entry;
	LIST_HEAD(asks, ask) asks;
	TAILQ_HEAD(all_owed, owed) owed;
	struct source on_socket, on_guard, on_pidfd;
	struct branch *branch;
	struct engine_taker *taker; /* or NULL */
	struct ear *ear;            /* the taker's */
	enum seat_stage stage;
	int socket;     /* -1: the wrapper is gone, or has no more to do with this seat */
	int guard;      /* the read end, or -1 */
	int pidfd;      /* the command's, or -1 */
	int here;       /* keeps this machine's permit, or -1 */
	uint32_t place; /* on the board */
	pid_t pid;      /* the command's, for people */
	pid_t wrapper;  /* spared when all that has the guard open is killed; 0: nobody is */
	char self[STORE_SELF];
	struct ward ward;       /* HOLDS */
	bool gone;              /* HOLDS: the store has nothing of it any more */
	bool told;              /* HOLDS: people know from the wrapper that it is lost */
	uint64_t give_up_ns;    /* LEAVING, RELEASING */
	uint64_t exit_ns;       /* HOLDS: when it stops waiting for the command's exit */
	char away[ENGINE_TEXT]; /* why the store can't be reached; "": it can */
};

struct seat *seat_new(struct branch *b, int socket, uint32_t place, pid_t wrapper);

/* Does what is due; returns when it is to be asked again (CLOCK_BOOTTIME, ns). */
uint64_t seat_step(struct seat *s, uint64_t now_ns);

bool seat_is_over(const struct seat *s);

void seat_free(struct seat *s); /* one that is over */

/* seat.c: it asks nothing of the store any more. */
void seat_rest(struct seat *s);

/* seat.c: the permit is given back. */
void seat_release(struct seat *s);

/*
 * seat.c: hears all that the wrapper has said, and whether anything still runs under the permit: a
 * keeper that goes on after a stop must not tell of what is over.
 */
void seat_catch_up(struct seat *s);

/* last.c: what the ward says is to be done to the command. */
void seat_deed(struct seat *s, enum ward_deed deed, const char *why);

/* hear.c: of the taker whose ear the context is. */
void seat_hear(void *context, const struct engine_event *event);

/* tell.c: the wrapper hears it, if there still is one; now, or when it reads again. */
void seat_tell(struct seat *s, const struct talk *t);
void seat_tell_kind(struct seat *s, enum talk_kind kind);
void seat_tell_lost(struct seat *s, const char *why);

/* Tells what is owed, as far as there is room; when to try again. */
uint64_t seat_tell_owed(struct seat *s, uint64_t now_ns);
void seat_owe_nothing(struct seat *s);

/* keeper.c: watches a descriptor, and no longer; a taker that is done with; the time. */
int keeper_watch(int fd, uint32_t events, struct source *s);
void keeper_unwatch(int fd);
void keeper_retire(struct branch *b, struct engine_taker *t, struct ear *ear);
uint64_t keeper_now(void);

/* stand.c: how things stand for the taker of that name. */
void seat_stand(const struct view *v, const char *self, struct talk *t);

#endif
