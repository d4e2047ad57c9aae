/* SPDX-License-Identifier: ISC */
/*
 * sweep.h - the units in use, the limit and the waiters at each event.
 */
#ifndef SWEEP_H
#define SWEEP_H

#include "lanes.h"

/* Fills in the steps; and ends turns when another turn gets their seat.  0, or -ENOMEM. */
int lanes_sweep(struct lanes *l, const struct flk_snapshot *s, uint64_t now_ns);

#endif
