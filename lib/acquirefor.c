/*
 * acquirefor.c - flk_acquire() for a caller that has a time span and no deadline.
 */
#include "flocklimit.h"

#include <errno.h>

int
flk_acquire_for(struct flk_taker *t, const struct flk_request *want, int64_t ms)
{
	struct timespec deadline;

	/* A span that the caller computed and that has run out must not become "for ever". */
	if (ms < -1)
		return -EINVAL;
	if (ms == -1)
		return flk_acquire(t, want, NULL);
	if (ms == 0)
		return flk_try(t, want);
	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_nsec += (long)(ms % 1000) * 1000000;
	deadline.tv_sec += (time_t)(ms / 1000) + deadline.tv_nsec / 1000000000;
	deadline.tv_nsec %= 1000000000;
	return flk_acquire(t, want, &deadline);
}
