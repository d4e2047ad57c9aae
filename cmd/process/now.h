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

/* How many seconds are left until then; 0 if none are. */
static inline double
seconds_until(uint64_t at_ns)
{
	uint64_t now = now_ns();

	return at_ns > now ? (double)(at_ns - now) / 1e9 : 0;
}

#endif
