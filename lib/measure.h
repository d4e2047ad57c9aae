/* SPDX-License-Identifier: ISC */
/*
 * measure.h - what the machine has left: memory, disk space, CPUs.
 */
#ifndef FLKI_MEASURE_H
#define FLKI_MEASURE_H

#include "condition.h"

/*
 * What one taker read of the kernel's pressure files at its last looks.  The kernel has totals, so
 * the pressure of the last two seconds is the difference of two looks.
 */
struct pressures {
	struct {
		uint64_t at_ns, total_us[3];
	} look[4];
	unsigned looks; /* ever; look n is in look[n % 4] */
};

/* Reads the pressure files once, for the conditions that are measured next. */
void flki_measure_pressures(struct pressures *p);

/*
 * The value that the condition compares, or UINT64_MAX: not known.  Without P, a pressure is the
 * kernel's own average of ten seconds; with it, it is not known until a look is two seconds old.
 */
uint64_t flki_measure(const struct condition *c, const struct pressures *p);

#endif
