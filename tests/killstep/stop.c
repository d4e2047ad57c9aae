/* SPDX-License-Identifier: ISC */
/*
 * stop.c - where an actor of stops.t stops.  The compiler puts no stops into this file.
 */
#include "stop.h"

#include "actor.h"
#include "processor.h"

void
stop(void)
{
	if (actor_desk != NULL && actor_desk->stops)
		STOP_HERE();
}

/* The compiler's own: it calls this at the beginning of each basic block. */
void __sanitizer_cov_trace_pc(void);

void
__sanitizer_cov_trace_pc(void)
{
	stop();
}
