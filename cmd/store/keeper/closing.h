/* SPDX-License-Identifier: ISC */
/*
 * closing.h - takers that have ended, but may still have something to tidy up in the store.
 */
#ifndef CLOSING_H
#define CLOSING_H

#include "keeper_limiter.h"

/* Takes both, and frees them after a while, or when the fleet has nothing to do. */
void closing_add(struct keeper_limiter *l, struct fleet_taker *t, struct event_target *target);

/* Frees the takers whose time has come; returns when to call it again (CLOCK_BOOTTIME, ns). */
uint64_t closing_step(uint64_t now_ns);

bool closing_any(void);

#endif
