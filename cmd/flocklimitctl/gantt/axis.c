/* SPDX-License-Identifier: ISC */
/*
 * axis.c - an axis in times of day, with labels at round ones.
 */
#include "axis.h"

#include <stdio.h>
#include <time.h>

#include "text.h"

/* Steps of a second and more, in which clocks do not count by tens. */
static const double clock_steps[] = { 1,   2,    5,    10,   15,    30,    60,    120,   300, 600,
				      900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 0 };

static double
round_step(double least)
{
	double decade = 1e-6;
	const double *step;

	for (; decade < 0.5; decade *= 10) {
		if (decade >= least)
			return decade;
		if (2 * decade >= least)
			return 2 * decade;
		if (5 * decade >= least)
			return 5 * decade;
	}
	for (step = clock_steps; *step != 0; step++)
		if (*step >= least)
			return *step;
	for (decade = 86400; decade < least; decade *= 2)
		;
	return decade;
}

static double
seconds_east(double when)
{
	time_t seconds = (time_t)when;
	struct tm tm;

	localtime_r(&seconds, &tm);
	return (double)tm.tm_gmtoff;
}

struct axis
axis_of(const struct lanes *l, unsigned most)
{
	struct axis a = { .from = epoch_of(l->from_ns), .to = epoch_of(l->to_ns) };
	double east = seconds_east(a.from);

	if (a.to - a.from < 1e-3)
		a.to = a.from + 1e-3;
	a.step = round_step((a.to - a.from) / most);
	a.first = (double)(int64_t)((a.from + east) / a.step) * a.step - east;
	if (a.first < a.from)
		a.first += a.step;
	return a;
}

const char *
axis_label(const struct axis *a, double when, char room[40])
{
	double nudged = when + a->step / 1000; /* 6.9999999 is 7 */
	time_t seconds = (time_t)nudged;
	double step = a->step, units = 1;
	int digits = 0;
	struct tm tm;
	size_t n;

	localtime_r(&seconds, &tm);
	n = strftime(room, 40, a->step >= 86400 ? "%F" : a->step >= 60 ? "%H:%M" : "%T", &tm);
	for (; step < 0.999; step *= 10) {
		digits++;
		units *= 10;
	}
	if (digits > 0)
		snprintf(room + n, 40 - n, ".%0*d", digits,
			 (int)((nudged - (double)seconds) * units));
	return room;
}
