/* SPDX-License-Identifier: ISC */
/*
 * now.h - the one clock that the commands go by: monotonic, in ns, as the library's deadlines.
 */
#ifndef NOW_H
#define NOW_H

#include <stdint.h>

#include "clock.h"

#define NEVER UINT64_MAX /* a deadline that does not come */

static inline uint64_t
now_ns(void)
{
	return flki_monotonic_ns();
}

static inline uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* How long it is until then; 0: the time has come. */
static inline uint64_t
left_until(uint64_t at, uint64_t now)
{
	return at > now ? at - now : 0;
}

/* How many seconds it is since then; 0 if it is still to come. */
static inline double
seconds_since(uint64_t at_ns)
{
	/* A holder in a store may have begun before this machine: the difference is right all the same. */
	int64_t ns = (int64_t)(now_ns() - at_ns);

	return ns > 0 ? (double)ns / 1e9 : 0;
}

/* When that was by our clock: a moment of the wall clock, in ms since 1970, or now if that is to come. */
static inline uint64_t
when_was(int64_t wall_ms)
{
	int64_t ago_ns = (int64_t)flki_clock_ns(CLOCK_REALTIME) - wall_ms * INT64_C(1000000);

	return now_ns() - (uint64_t)(ago_ns > 0 ? ago_ns : 0);
}

/* How many seconds are left until then; 0 if none are. */
static inline double
seconds_until(uint64_t at_ns)
{
	uint64_t now = now_ns();

	return at_ns > now ? (double)(at_ns - now) / 1e9 : 0;
}

#endif
