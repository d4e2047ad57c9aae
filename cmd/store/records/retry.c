/* SPDX-License-Identifier: ISC */
/*
 * retry.c - see retry.h.
 */
#include "retry.h"

#include <sys/random.h>

#include "clock.h"
#include "now.h"

#define FIRST_NS (50 * MS)
#define LAST_NS  (2 * SECOND)

/* Early in the machine's life there may be no random bytes yet: the pause is then the longest. */
uint64_t
retry_spread(uint64_t most_ns)
{
	uint64_t half = most_ns / 2, some;

	if (getrandom(&some, sizeof(some), GRND_NONBLOCK) != sizeof(some))
		return most_ns;
	return most_ns - some % (half + 1);
}

uint64_t
retry_pause(unsigned failures)
{
	return retry_spread(earlier(failures < 6 ? FIRST_NS << failures : LAST_NS, LAST_NS));
}

uint64_t
retry_renewal(unsigned failures, uint32_t ttl_s)
{
	return earlier(retry_pause(failures), ttl_s * SECOND / 6);
}
