/* SPDX-License-Identifier: ISC */
/*
 * hold.h - --hold-for: a permit for a process that is not our child.
 */
#ifndef HOLD_H
#define HOLD_H

#include "options.h"

struct flk_taker;

/*
 * Forks.  In the child, the keeper, it returns -1: the keeper takes the permit, and then calls
 * hold_keep().  In the parent it returns the exit status, once the keeper has written its ticket or
 * has failed.
 */
int hold_split(const struct options *o);

/*
 * Writes the ticket to the parent, and holds the permit until the process ends, or SIGTERM comes.
 */
int hold_keep(const struct options *o, struct flk_taker *t);

#endif
