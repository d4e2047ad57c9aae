/* SPDX-License-Identifier: ISC */
/*
 * parts.h - what a ticket's wait was made of, from a history alone.  Nothing is printed here.
 *
 * The history is played through, with the rule by which the library grants.  At each moment of the
 * wait, one reason says why the head of the line got no permit or, if the ticket was not the head,
 * that it was behind the head.  So the parts add up to the wait, to the nanosecond.
 */
#ifndef PARTS_H
#define PARTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

/* In the order in which they are judged: the first that holds is the reason. */
enum why_reason {
	WHY_PAUSE,   /* paused, or a limit of 0 */
	WHY_PASSED,  /* one that came later is the head, or has units without which the head fits */
	WHY_UNITS,   /* holders have the units that it needs */
	WHY_PROMISE, /* a holder's own limit is smaller than the head's, and leaves no room */
	WHY_WITHHELD, /* units are withheld */
	WHY_SEATS,    /* of the free seats, too few are not excluded by it */
	WHY_PACE,     /* the rate, the stagger or the ramp allows no start yet */
	WHY_GATE,     /* the conditions of the gate, or the answer to the head's own question */
	WHY_LATE,     /* it might start: the head is stopped, or has not looked yet */
	WHY_UNKNOWN,  /* the history no longer has what it takes to say more */
	WHY_LINE,     /* another taker is the head, and waits for a reason of its own */
	WHY_REASONS
};

/* The taker to blame: of several the one that was it for the longest, times its units if it has them. */
struct why_taker {
	uint64_t ticket; /* 0: there is none */
	uint32_t weight, limit;
	char command[20];
};

struct why_part {
	uint64_t ns;
	struct why_taker taker;
};

enum why_fate {
	WHY_NOT_KNOWN, /* neither the history nor the snapshot has the ticket: see `drawn' */
	WHY_NO_WAIT,   /* it got its permit at once */
	WHY_FORGOTTEN, /* the beginning of its wait, if it waited, is no longer in the history */
	WHY_WAITS,
	WHY_GRANTED,
	WHY_LEFT,
	WHY_CANCELLED,
	WHY_REAPED,
	WHY_NO_END /* its end was not recorded */
};

struct why {
	uint64_t ticket;
	enum why_fate fate;
	bool drawn; /* the ticket was drawn already */
	bool early; /* the wait began before from_ns: its first part is lost */
	struct why_taker taker;
	uint64_t from_ns, to_ns; /* of the part of the wait that is known */
	struct why_part part[WHY_REASONS];
};

/*
 * The snapshot was taken before the history was read, and that before now_ns.  0, or -ENOMEM.
 */
int why_parts(struct why *why, uint64_t ticket, const struct flk_event *event, size_t events,
	      const struct flk_snapshot *s, uint64_t now_ns);

#endif
