/* SPDX-License-Identifier: ISC */
/*
 * axis.h - an axis in times of day.
 */
#ifndef AXIS_H
#define AXIS_H

#include "lanes.h"

struct axis {
	double from, to;    /* seconds since 1970 */
	double first, step; /* where the labels are */
};

/* An axis with at most MOST labels. */
struct axis axis_of(const struct lanes *l, unsigned most);
const char *axis_label(const struct axis *a, double when, char room[40]);

#endif
