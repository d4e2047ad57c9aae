/*
 * picture.h - drawing lanes, and what both ways of drawing them share.
 */
#ifndef PICTURE_H
#define PICTURE_H

#include <stdio.h>

#include "lanes.h"

#define MOST_COLUMNS 1000 /* of a terminal */

/* NAME is what people call the limiter. */
void draw_svg(FILE *out, const struct lanes *l, const char *name);
void draw_text(FILE *out, const struct lanes *l, const char *name, unsigned width, bool colour,
	       bool utf8);

/* ---- axis.c: round times of day ---- */

struct axis {
	double from, to;    /* seconds since 1970 */
	double first, step; /* of the labels */
};

/* With at most so many labels. */
struct axis axis_of(const struct lanes *l, unsigned most);
const char *axis_label(const struct axis *a, double when, char room[40]);

/* ---- words.c ---- */

const char *outcome_name(enum outcome o);

/* "2026-11-21 14:03:07.120 to 14:05:12.700 (2 min)" */
const char *from_to(const struct lanes *l, char room[120]);

/* Of a steering event, "limit 4"; "" where there is nothing to be said. */
const char *mark_text(const struct flk_event *e, char room[40]);

#define TITLE_TEXT 400

/* All about one turn, in lines; the command is bytes as they are. */
const char *title_of(const struct turn *t, char room[TITLE_TEXT]);

#endif
