/* SPDX-License-Identifier: ISC */
/*
 * pace.h - how people write and read a pace.
 */
#ifndef PACE_H
#define PACE_H

#include <stdbool.h>

#include "flocklimit.h"
#include "parse.h"

#define PACE_IDLE_NS (UINT64_C(60) * 1000000000) /* without a holder, until a ramp begins anew */

/* What is wrong with a word that is not a rate, a stagger or a ramp. */
#define PACE_RATE                                                                               \
	"not a rate: use N/s, N/m, N/h, N/d or N/DUR, with :BURST, or off; DUR/N is at most 3 " \
	"days"
#define PACE_STAGGER PARSE_DURATION "; or off"
#define PACE_RAMP    "not a ramp: use FROM+STEP/DUR, say 1+1/30s, or off; DUR is 1ms to 49 days"

/* Each leaves the other parts of the pace, a struct flk_pace, alone. */
bool pace_parse_rate(const char *word, void *pace);
bool pace_parse_stagger(const char *word, void *pace);
bool pace_parse_ramp(const char *word, void *pace);

/* Whether the parts in WHICH are the same in A and B. */
bool pace_is_so(const struct flk_pace *a, const struct flk_pace *b, unsigned which);

#define PACE_TEXT 160

/* Those parts as they would be typed: "rate 30/m:5, stagger 200ms, ramp off". */
const char *pace_text(const struct flk_pace *p, unsigned which, char room[PACE_TEXT]);

/* Which parts are set. */
unsigned pace_parts(const struct flk_pace *p);

#endif
