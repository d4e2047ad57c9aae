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

/* "user tom": whom a limiter that is fair in this way counts it to; "": nobody. */
#define KEY_TEXT (16 + VISIBLE(FLK_KEY))
const char *key_text(const struct flk_entry *e, uint32_t fair, char text[KEY_TEXT]);

/*
 * What else there is to say of a taker, for the end of a line and as fields for programs: of a waiter,
 * " (overtaken 1 of 3)"; in a limiter that is fair, " (user tom, share 2)"; of a holder that waits for
 * a permit of another limiter, " (waits for gpu)".
 */
#define MORE_TEXT (48 + VISIBLE(FLK_WAITS_FOR) + 16 + KEY_TEXT + 24)
const char *more_text(const struct flk_entry *e, uint32_t fair, char text[MORE_TEXT]);
void more_json(const struct flk_entry *e, json_t *object);

/* The most that it asks for, but no more than its limit. */
uint32_t weight_most(const struct flk_entry *e);

/* The waiter that came first, which need not be the head; NULL: nobody waits. */
const struct flk_entry *entry_waiting_longest(const struct flk_snapshot *s);

/* The taker that has this ticket; NULL: none has. */
const struct flk_entry *entry_of_ticket(const struct flk_snapshot *s, uint64_t ticket);

#endif
