/* SPDX-License-Identifier: ISC */
/*
 * samples.h - numbers that were measured, and what is in the middle of them.
 */
#ifndef BENCH_SAMPLES_H
#define BENCH_SAMPLES_H

#include <stddef.h>

struct samples {
	double *value;
	size_t count, room;
};

void samples_add(struct samples *s, double value);

/* The value below which a share (0 to 1) of the samples lies; sorts them.  0 if there is none. */
double samples_quantile(struct samples *s, double share);
double samples_median(struct samples *s);

void samples_free(struct samples *s);

#endif
