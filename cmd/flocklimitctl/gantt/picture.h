/* SPDX-License-Identifier: ISC */
/*
 * picture.h - the two ways of drawing lanes.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdbool.h>
#include <stdio.h>

#include "lanes.h"

#define MOST_COLUMNS 1000 /* of a terminal */

/* NAME is what people call the limiter. */
void draw_svg(FILE *out, const struct lanes *l, const char *name);
void draw_text(FILE *out, const struct lanes *l, const char *name, unsigned width, bool colour,
	       bool utf8);

#endif
