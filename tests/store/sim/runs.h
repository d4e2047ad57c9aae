/* SPDX-License-Identifier: ISC */
/*
 * runs.h - many histories, and what became of them.
 */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stdint.h>

struct law;

struct runs {
	uint64_t histories; /* that broke no law */
	unsigned long grants, refusals, losses, kills;
	unsigned long long steps;
	const struct law *law; /* that the next one broke; NULL: all is well */
	uint64_t seed;         /* ... and its seed */
	char why[200];
};

extern bool runs_trace; /* prints all that happens */

/* From that seed on; takers: 0 for those of the plan.  True if no law was broken. */
bool runs_go(uint64_t seed, uint64_t histories, unsigned takers, struct runs *r);

/* Runs the last one again, and prints the end of its trace and which law it broke. */
void runs_show(const struct runs *r, unsigned takers);

#endif
