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
	struct flk *f; /* NULL: it was closed */
	const char *name, *path;
	int width; /* of the column of names; 0: there is none */
};

/* About a taker, with its weight and its command.  FLK_EV_GATED has the words of a gate there. */
static inline bool
event_has_taker(const struct flk_event *e)
{
	return e->ticket != 0 && e->kind != FLK_EV_GATED;
}

/* The last event of its ticket. */
static inline bool
event_is_end(const struct flk_event *e)
{
	return e->kind == FLK_EV_RELEASED || e->kind == FLK_EV_FORGOT || e->kind == FLK_EV_LEFT ||
	       e->kind == FLK_EV_EVICTED || e->kind == FLK_EV_REAPED;
}

/* Its ticket holds, or held right before it. */
static inline bool
event_is_of_holder(const struct flk_event *e)
{
	return e->kind == FLK_EV_RELEASED || e->kind == FLK_EV_UNITS || e->kind == FLK_EV_GREW ||
	       e->kind == FLK_EV_FORGOT || (e->kind == FLK_EV_REAPED && e->code != 0);
}

/* The weight that its ticket had before: units were given back, or taken. */
static inline uint32_t
event_weight_before(const struct flk_event *e)
{
	return e->kind == FLK_EV_UNITS  ? e->weight + (uint32_t)e->code
	       : e->kind == FLK_EV_GREW ? e->weight - (uint32_t)e->code
					: e->weight;
}

/*
 * All that is remembered, at most FLK_HISTORY events, for what goes by the order of times and the spans between
 * them.  An event of another machine, from before this one was booted, is taken for one of that moment.
 */
size_t events_since_boot(struct flk *f, struct flk_event *event);

const char *event_name(uint32_t kind);

/* The code of a FLK_EV_LEFT or FLK_EV_EVICTED in words: "timed out". */
const char *why_left(int code);

/* Of an FLK_EV_QUEUED, what the newcomer has passed: "before 2 that came earlier"; or "". */
#define PASSED_TEXT 40
const char *event_passed(const struct flk_event *e, char room[PASSED_TEXT]);

/* Prints one line.  abroad: the machine that it happened on; NULL: this one. */
void event_print(const struct event_of *s, const struct flk_event *e, const char *abroad);

#endif
