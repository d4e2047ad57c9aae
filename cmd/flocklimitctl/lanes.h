/*
 * lanes.h - what a picture of a history shows: whose turn lasted from when to when, on which
 * seat, how it ended, and how many units were in use under which limit.  Nothing is drawn here.
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
	UNTOLD,   /* it ended, and nobody said how */
	RUNNING,
	OUTCOMES
};

/* A ticket's way: perhaps a wait, then perhaps a permit. */
struct turn {
	uint64_t ticket;
	uint64_t queued_ns, granted_ns; /* where it waited, and where it held */
	uint64_t end_ns;                /* of all; the end of the picture if it is not over */
	bool waited, held;
	bool early; /* its first known part began before all that is remembered */
	bool over;
	enum outcome outcome;         /* where it held */
	const struct flk_event *last; /* that ended it; NULL where no event did */
	uint32_t weight, seat;        /* weight: in the beginning */
	uint32_t pid, uid;            /* pid 0: not known */
	uint32_t row;                 /* of the wait: no other wait is there at the same time */
	const char *command;
};

/* How things stood from then on. */
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
	uint32_t seats, rows;    /* 1 + the largest */
	uint32_t most_waiting, most_limit;
	uint64_t most_used;
};

/*
 * The events are the history as it was after the snapshot was taken.  Both must outlive the
 * lanes.  0, or -ENOMEM.
 */
int lanes_make(struct lanes *l, const struct flk_event *event, size_t events,
	       const struct flk_snapshot *s, uint64_t now_ns);
void lanes_free(struct lanes *l);

/* When it no longer waited. */
uint64_t lanes_wait_end(const struct turn *t);

/* ---- between lanes.c and sweep.c ---- */

#define LANES_SEATS (2 * FLK_MAX_TAKERS) /* every seat is below */

bool lanes_ends(const struct flk_event *e); /* a turn */
struct turn *lanes_find(const struct lanes *l, uint64_t ticket);

/* Fills in the steps, and the end of turns whose seat was given on. */
int lanes_sweep(struct lanes *l, const struct flk_snapshot *s, uint64_t now_ns);

#endif
