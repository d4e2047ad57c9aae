/* SPDX-License-Identifier: ISC */
/*
 * event.h - an event of a limiter's history, as it is printed.
 */
#ifndef EVENT_H
#define EVENT_H

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

const char *event_name(uint32_t kind);

/* The code of a FLK_EV_LEFT or FLK_EV_EVICTED in words: "timed out". */
const char *why_left(int code);

/* Prints one line. */
void event_print(const struct event_of *s, const struct flk_event *e);

#endif
