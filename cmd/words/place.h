/* SPDX-License-Identifier: ISC */
/*
 * place.h - how the line stands for a taker, in words.
 */
#ifndef PLACE_H
#define PLACE_H

#include "flocklimit.h"
#include "say.h"

/* "4 of 4 in use, 2 ahead of you (oldest holder: pid 4711, 12 min, "ld -o app")" */
const char *say_place(const struct flk_place *place, char room[PLACE_TEXT]);

#endif
