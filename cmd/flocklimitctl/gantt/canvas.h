/* SPDX-License-Identifier: ISC */
/*
 * canvas.h - the sheet of an SVG picture: where each part of it is, and the labels on it.
 */
#ifndef CANVAS_H
#define CANVAS_H

#include <stdint.h>
#include <stdio.h>

#include "axis.h"
#include "lanes.h"

#define LEFT   52.0
#define RIGHT  888.0
#define STRIP  64.0 /* height of the panel of units */
#define LETTER 6.2  /* width of a letter of the small text, about */

struct canvas {
	FILE *out;
	const struct lanes *l;
	struct axis axis;
	double strip, seats, line, bottom; /* where each part begins */
	double lane, row;                  /* how high each is */
	uint64_t units;                    /* the value at the top of the strip */
	uint32_t heaviest;
};

void canvas_label(const struct canvas *v, double x, double y, const char *class, const char *text);

/*
 * The x of a moment: so many seconds after the beginning of the picture, or by the events' clock.
 */
double canvas_x_of(const struct canvas *v, double since_s);
double canvas_x(const struct canvas *v, uint64_t when_ns);

#endif
