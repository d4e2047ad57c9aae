/* SPDX-License-Identifier: ISC */
/*
 * limiter_state.h - what a snapshot of a limiter says.
 */
#ifndef LIMITER_STATE_H
#define LIMITER_STATE_H

#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

/* "open", "paused", "closed", ... */
const char *state_of(const struct flk_snapshot *s);

/* Why the head of the line does not run: a sentence; "" if no taker waits. */
void why_it_waits(const struct flk_snapshot *s, char *text, size_t size);

/* The taker that has this ticket; NULL: none has. */
const struct flk_entry *entry_of_ticket(const struct flk_snapshot *s, uint64_t ticket);

#endif
