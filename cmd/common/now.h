/*
 * now.h - the one clock that the command goes by: monotonic, in ns, as the library's deadlines.
 */
#ifndef NOW_H
#define NOW_H

#include <stdint.h>
#include <time.h>

#define SECOND UINT64_C(1000000000)

static inline uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

/* How many seconds are left until then; 0 if none are. */
static inline double
seconds_until(uint64_t at_ns)
{
	uint64_t now = now_ns();

	return at_ns > now ? (double)(at_ns - now) / 1e9 : 0;
}

#endif
