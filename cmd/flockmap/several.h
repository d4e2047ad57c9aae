/* SPDX-License-Identifier: ISC */
/*
 * several.h - the permits of --and, which a job has beside the one that the map takes for it.
 *
 * One thread takes all permits of a job, in the order that also.h gives: those of the limiters before
 * the map's before the map joins its line, and those behind it when the job has the map's permit.
 * Another thread leads the map by then.
 */
#ifndef SEVERAL_H
#define SEVERAL_H

#include "jobs.h"

/* Before the map. */
void several_prepare(struct jobs *a);

/* For struct flk_map_options: the permits before the one of LIMITER: 0, or a code. */
int several_before(void *jobs, void *item, struct flk *limiter);

/*
 * Those behind it, and the guards of all: 0, or a code.  TAKER has the map's permit; NULL: the job
 * joins one that we run under, and all others are still to be taken.
 */
int several_take_rest(struct jobs *a, struct job *j, struct flk_taker *taker);

/* Releases them all; the job needs them no more. */
void several_free(struct job *j);

#endif
