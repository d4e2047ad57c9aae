/* SPDX-License-Identifier: ISC */
/*
 * steering.h - what operators set, and what the pace has used up, at the moment that a walk through
 * the events of a history has reached.  Its times are by the clock of the events.
 */
#ifndef STEERING_H
#define STEERING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"
#include "replay.h"

struct steering {
	struct replay at;
	uint64_t asking; /* a head that has a question of its own; 0: none is known */

	/* As in the header of a limiter: see lib/pace.c. */
	uint64_t free_ns, last_ns, ramp_since_ns, idle_since_ns;
};

/* As it was before the first event. */
void steering_begin(struct steering *t, const struct flk_event *event, size_t events,
		    const struct flk_snapshot *s);

/* HOLDERS: how many hold before the event, and how many after it. */
void steering_happen(struct steering *t, const struct flk_event *e, size_t before, size_t after);

/* The units that the ramp allows at that time; UINT64_MAX: there is no ramp. */
uint64_t steering_capacity(const struct steering *t, uint64_t at_ns);

/* When the ramp will allow so many; UINT64_MAX: never. */
uint64_t steering_ramp_reaches(const struct steering *t, uint64_t units);

/* When the rate and the stagger allow the next start; 0: they do already. */
uint64_t steering_start(const struct steering *t);

#endif
