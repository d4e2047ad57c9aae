/* SPDX-License-Identifier: ISC */
/*
 * limiter_state.h - what a snapshot of a limiter says.
 */
#ifndef LIMITER_STATE_H
#define LIMITER_STATE_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"
#include "seats.h"
#include "text.h"

/* "open", "paused", "closed", ... */
const char *state_of(const struct flk_snapshot *s);

/* Why the head of the line of limiter NAME does not run: a sentence; "" if no taker waits. */
void why_it_waits(const struct flk_snapshot *s, const char *name, char *text, size_t size);

/* What a taker asks for or holds: "3"; of a waiter also "2-8", or "2-" for up to the limit. */
#define WEIGHT_TEXT 24
const char *weight_text(const struct flk_entry *e, char text[WEIGHT_TEXT]);

/*
 * What else there is to say of a taker, for the end of a line and as fields for programs: of a waiter,
 * " (overtaken 1 of 3)"; of a holder that waits for a permit of another limiter, " (waits for gpu)".
 */
#define MORE_TEXT (48 + VISIBLE(FLK_WAITS_FOR) + 16)
const char *more_text(const struct flk_entry *e, char text[MORE_TEXT]);
void more_json(const struct flk_entry *e, json_t *object);

/* The most that it asks for, but no more than its limit. */
uint32_t weight_most(const struct flk_entry *e);

/* The taker that has this ticket; NULL: none has. */
const struct flk_entry *entry_of_ticket(const struct flk_snapshot *s, uint64_t ticket);

#endif
