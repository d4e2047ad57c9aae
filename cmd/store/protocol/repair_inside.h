/* SPDX-License-Identifier: ISC */
/*
 * repair_inside.h - a repairer as its two files see it.  One life is handled at a time: suspects.life.
 */
#ifndef REPAIR_INSIDE_H
#define REPAIR_INSIDE_H

#include "look.h"
#include "repair.h"

/* Goes through the dead that the taker has to care for: the next are these. */
struct repair_walk {
	size_t holder, waiter, end;
};

/* ---- repair.c ---- */

struct repair_walk repair_walk(const struct fleet_taker *t, bool holders);

/* The next one of the life that is handled; NULL: there are no more. */
const struct look_taker *repair_next(const struct fleet_taker *t, struct repair_walk *w);
bool repair_holds(const struct fleet_taker *t, const struct look_taker *x);
size_t repair_most(const struct fleet_taker *t); /* that one transaction can take back */

/* The longest grace of its takers. */
uint32_t repair_grace(const struct fleet_taker *t, bool holders);

/* What is remembered of a life; NULL for want of memory. */
struct suspect *repair_suspect(struct fleet_taker *t, const char *life);

/* What the look has of it: all zero, if it was never marked. */
struct look_life *repair_life(struct fleet_taker *t, const char *name);

/* When to handle it again: then, or after a while. */
void repair_ripe_at(struct fleet_taker *t, uint64_t at);
void repair_put_off(struct fleet_taker *t);

/* ---- repair_mark.c ---- */

bool repair_mark(struct fleet_taker *t); /* false: nothing of that life is there */
void repair_begin_grace(struct fleet_taker *t, bool holders);

/* Reads the mark again, and who they are that would be taken back. */
void repair_ask_mark(struct fleet_taker *t, bool holders);

#endif
