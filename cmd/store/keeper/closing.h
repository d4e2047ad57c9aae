/* SPDX-License-Identifier: ISC */
/*
 * closing.h - takers that have ended, but may still have something to tidy up in the store.
 */
#ifndef CLOSING_H
#define CLOSING_H

#include "keeper_limiter.h"

/* Takes both, and closing_step() frees them after a while, or when the store has nothing to do. */
void closing_add(struct fleet_taker *t, struct event_target *target);

/*
 * Frees the takers whose time has come; idle: the store has nothing to do.  Returns when to call it again
 * (CLOCK_BOOTTIME, ns).
 */
uint64_t closing_step(uint64_t now_ns, bool idle);

bool closing_any(void);

#endif
