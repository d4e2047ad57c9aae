/* SPDX-License-Identifier: ISC */
/*
 * clock.h - virtual time and chance.  A program with virtual.c has its own clock_gettime() and
 * getrandom(), in place of the C library's, and so all of it runs under this time.
 *
 * The true time rises only when the program says so.  Each machine has a clock that starts at some
 * value and runs a bit too fast or too slow; the machine whose code runs shows its clock.
 */
#ifndef MEMORY_CLOCK_H
#define MEMORY_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#define NEVER UINT64_MAX

struct machine_clock {
	uint64_t since_ns;  /* at this true time, */
	uint64_t showed_ns; /* ... its CLOCK_BOOTTIME showed this */
	int32_t fast_ppm;
	bool stands;       /* an error that the simulation makes: it does not run now */
	uint64_t ahead_ns; /* its CLOCK_REALTIME, of its CLOCK_BOOTTIME */
};

extern uint64_t true_ns;
extern const struct machine_clock *running; /* NULL: its clock shows the true time */

uint64_t clock_shows(const struct machine_clock *c);
uint64_t clock_now(void); /* what `running' shows */

/* The true time at which the clock shows that. */
uint64_t clock_when(const struct machine_clock *c, uint64_t shows_ns);

/* Changes its rate or whether it stands, from now on. */
void clock_set(struct machine_clock *c, int32_t fast_ppm, bool stands);

/* All chance is drawn from one sequence, that of the seed. */
void chance_seed(uint64_t seed);
uint64_t chance(void);
uint64_t chance_below(uint64_t n);      /* 0 if n is */
bool chance_of(unsigned in_a_thousand); /* so often true */

#endif
