/* SPDX-License-Identifier: ISC */
/*
 * setting.h - the numbers that an operator sets of a limiter: a row for each.
 *
 * The row says which values it may have, where it stands in struct flk_settings and in the header of
 * a limiter file, what the history calls a change of it, what JSON and a store call it, and the file
 * of an order to limiters that do not exist yet.  What needs more than a number has code of its own:
 * pace.c, gate.c, and in steer.c the seats and the units withheld.
 */
#ifndef FLKI_SETTING_H
#define FLKI_SETTING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

struct flki_number {
	enum flk_setting which;
	const char *name;
	enum {
		FLKI_SWITCH,
		FLKI_COUNT,
		FLKI_LIMIT
	} kind;             /* bool; uint32_t; int64_t, which may be FLK_AUTO */
	size_t at;          /* in struct flk_settings */
	size_t word, width; /* in struct header: its offset, and 4 or 8 bytes */
	int64_t least, most;
	int64_t none;      /* no operator has steered the limiter by it */
	uint32_t set;      /* the event when it is set, */
	uint32_t over;     /* and when it is none again */
	const char *order; /* NULL: there is no such order */
};

enum { FLKI_NUMBERS = 4 };
extern const struct flki_number flki_numbers[FLKI_NUMBERS];

int64_t flki_number_get(const struct flki_number *n, const struct flk_settings *from);
void flki_number_put(const struct flki_number *n, struct flk_settings *to, int64_t value);
bool flki_number_is_good(const struct flki_number *n, int64_t value);

/*
 * Of the numbers alone: sets those that `which' names; whether all are the same; and whether one that
 * `which' names steers the limiter.
 */
void flki_settings_set(struct flk_settings *s, unsigned which, const struct flk_settings *to);
bool flki_settings_same(const struct flk_settings *a, const struct flk_settings *b);
bool flki_settings_steer(unsigned which, const struct flk_settings *s);

/* As no operator has steered it. */
static const struct flk_settings flki_no_settings = { .override = FLK_AUTO };

#endif
