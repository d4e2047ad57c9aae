/* SPDX-License-Identifier: ISC */
/*
 * line.h - the takers of a history: which hold and which wait, at the moment that a walk through the
 * events has reached.
 */
#ifndef LINE_H
#define LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

struct person {
	uint64_t ticket;
	uint64_t order;               /* of a waiter: the head has the smallest */
	uint32_t weight, limit, seat; /* limit 0: not known */
	uint64_t seats;     /* of a holder, one for each unit it had at first; 0: `seat' alone */
	uint64_t not_seats; /* of a waiter: those that it excludes */
	bool holds, waits;
	bool present; /* in the snapshot */
	bool told;    /* an event says more of it than that it waits */
	bool lost;    /* it waited, and no event and no snapshot says how that ended */
	char command[20];
	uint64_t blamed; /* for the reason that is counted just now */
};

struct line {
	struct person *person; /* by ticket */
	size_t n;
	uint64_t order; /* the largest so far */
};

/* As it was before the first event.  0, or -ENOMEM. */
int line_begin(struct line *l, const struct flk_event *event, size_t events,
	       const struct flk_snapshot *s);
void line_happen(struct line *l, const struct flk_event *e);
void line_free(struct line *l);

/* The person with this ticket, or NULL. */
struct person *line_find(const struct line *l, uint64_t ticket);

struct person *line_head(const struct line *l); /* NULL: nobody waits */
size_t line_holders(const struct line *l);
uint64_t line_used_by(const struct line *l, uint64_t last); /* the holders up to that ticket */
uint64_t line_seats(const struct line *l);           /* of the first 64, those that are held */
struct person *line_strictest(const struct line *l); /* of the holders; NULL: no limit is known */

#endif
