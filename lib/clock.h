/* SPDX-License-Identifier: ISC */
/*
 * clock.h - the system's clocks, in ns, and the deadlines of the library's callers.
 *
 * The library's own times are CLOCK_MONOTONIC.  A store's are CLOCK_BOOTTIME, which also counts
 * while the machine sleeps, as the store's server does.
 */
#ifndef FLKI_CLOCK_H
#define FLKI_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

static inline uint64_t
flki_clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

static inline uint64_t
flki_monotonic_ns(void)
{
	return flki_clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t
flki_boottime_ns(void)
{
	return flki_clock_ns(CLOCK_BOOTTIME);
}

/* A sum that does not wrap around: never, UINT64_MAX, is the most. */
static inline uint64_t
flki_plus(uint64_t a, uint64_t b)
{
	return a + b >= a ? a + b : UINT64_MAX;
}

static inline struct timespec
flki_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / SECOND), .tv_nsec = (long)(ns % SECOND) };
}

/* A caller's deadline.  NULL, and what is later than ns can express, is never: UINT64_MAX. */
static inline uint64_t
flki_deadline_ns(const struct timespec *t)
{
	if (t == NULL || (t->tv_sec > 0 && (uint64_t)t->tv_sec >= INT64_MAX / SECOND))
		return UINT64_MAX;
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * SECOND + (uint64_t)t->tv_nsec;
}

#endif
