/*
 * svg.h - between svg.c and strip.c.
 */
#ifndef SVG_H
#define SVG_H

#include "picture.h"

#define LEFT   52.0
#define RIGHT  888.0
#define STRIP  64.0 /* height of the panel of units */
#define LETTER 6.2  /* about as wide, of the small ones */

struct svg {
	FILE *out;
	const struct lanes *l;
	struct axis axis;
	double strip, seats, line, bottom; /* where each part begins */
	double lane, row;                  /* how high each is */
	uint64_t units;                    /* at the top of the strip */
	uint32_t heaviest;
};

void svg_label(const struct svg *v, double x, double y, const char *class, const char *text);

/* Where that moment is. */
double svg_x(const struct svg *v, uint64_t when_ns);

/* The panel of the units in use under the limit, and what was steered. */
void svg_strip(const struct svg *v);

#endif
