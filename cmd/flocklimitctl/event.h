/* SPDX-License-Identifier: ISC */
/*
 * event.h - an event of a limiter's history, as it is printed.
 */
#ifndef EVENT_H
#define EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "flocklimit.h"

struct ctl;

/* The limiter that it happened in. */
struct event_of {
	const struct ctl *c;
	struct flk *f; /* NULL: it was closed; in a store it never is */
	const char *name, *path;
	int width; /* of the column of names; 0: there is none */
};

/* About a taker, with its weight and its command.  FLK_EV_GATED has the words of a gate there. */
static inline bool
event_has_taker(const struct flk_event *e)
{
	return e->ticket != 0 && e->kind != FLK_EV_GATED;
}

const char *event_name(uint32_t kind);

/* The code of a FLK_EV_LEFT or FLK_EV_EVICTED in words: "timed out". */
const char *why_left(int code);

/* Prints one line. */
void event_print(const struct event_of *s, const struct flk_event *e);

#endif
