/* SPDX-License-Identifier: ISC */
/*
 * lanes.h - the content of a picture of a history: when each ticket's turn began and ended, on
 * which seat and how; and how many units were in use, under which limit.  Nothing is drawn here.
 */
#ifndef LANES_H
#define LANES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

enum outcome {
	WELL,     /* exit 0 */
	BADLY,    /* another exit status */
	SIGNALED, /* a signal ended it */
	LATE,     /* it ran into its run timeout */
	REAPED,   /* its taker was killed */
	UNTOLD,   /* it ended, and no event says how */
	RUNNING,
	OUTCOMES
};

/* A ticket, from its arrival to its end: perhaps a wait, then perhaps a permit. */
struct turn {
	uint64_t ticket;
	uint64_t queued_ns, granted_ns; /* valid if it waited, and if it held */
	uint64_t end_ns;                /* of the turn, or of the picture if the turn is not over */
	bool waited, held;
	bool early; /* its first known part began before the oldest event */
	bool over;
	enum outcome outcome;          /* valid if it held */
	const struct flk_event *first; /* FLK_EV_QUEUED; NULL: none */
	const struct flk_event *last;  /* the event that ended it; NULL: none did */
	uint32_t weight, seat;         /* weight: at first; seat: the lowest */
	uint64_t seats;                /* at first, as a set; 0: `seat' is all that is known */
	bool shrank;                   /* it gave units back, and with them its highest seats */
	pid_t pid;                     /* 0: not known */
	uid_t uid;
	uint32_t row; /* for the wait: waits at the same time have other rows */
	const char *command;
};

/* The limiter from a moment on, until the next step. */
struct step {
	uint64_t when_ns, used;
	uint32_t limit; /* in force */
	uint32_t room;  /* the limit without the units withheld */
	uint32_t waiting;
};

struct lanes {
	const struct flk_event *event;
	size_t events;
	struct turn *turn; /* by ticket */
	size_t turns;
	struct step *step; /* by time; the first is at from_ns */
	size_t steps;
	uint64_t from_ns, to_ns; /* CLOCK_MONOTONIC */
	uint32_t seats, rows;    /* 1 + the largest number */
	uint32_t most_waiting, most_limit;
	uint64_t most_used;
};

/*
 * Fills in the turns, from the events and from the snapshot, which both must outlive the lanes.
 * The caller has set event and events, from_ns and to_ns.  0, or -ENOMEM.
 */
int lanes_read(struct lanes *l, const struct flk_snapshot *s);

/* The ticket's turn, or NULL. */
struct turn *lanes_find(const struct lanes *l, uint64_t ticket);

/* When its wait ended. */
uint64_t lanes_wait_end(const struct turn *t);

/*
 * The seats of a turn that held: the first one from `from' on, or LANES_SEATS if there is none.
 * The second says when the permit gave such a seat back.
 */
uint32_t lanes_seat_from(const struct turn *t, uint32_t from);
uint64_t lanes_seat_end(const struct lanes *l, const struct turn *t, uint32_t seat);

#define LANES_SEATS (2 * FLK_MAX_TAKERS) /* every seat is below */

#endif
