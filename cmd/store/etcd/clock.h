/*
 * clock.h - the clock that a store's client goes by: it counts while the machine sleeps, as the
 * server's does.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

#define CLOCK_MS UINT64_C(1000000)

static inline uint64_t
clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (uint64_t)t.tv_sec * 1000 * CLOCK_MS + (uint64_t)t.tv_nsec;
}

#endif
