/* SPDX-License-Identifier: ISC */
/*
 * virtual.c - clock_gettime() and getrandom() of a program that runs under virtual time: see clock.h.
 */
#include <string.h>
#include <time.h>
#include <sys/random.h>

#include "clock.h"

#define BILLION UINT64_C(1000000000)

/* NOLINTNEXTLINE(bugprone-easily-swappable-parameters): as in time.h */
int
clock_gettime(clockid_t clock, struct timespec *t)
{
	uint64_t ns = clock_now();

	if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)
		ns += running == NULL ? 1700000000 * BILLION : running->ahead_ns;
	t->tv_sec = (time_t)(ns / BILLION);
	t->tv_nsec = (long)(ns % BILLION);
	return 0;
}

ssize_t
getrandom(void *bytes, size_t size, unsigned flags)
{
	size_t done, part;
	uint64_t some;

	(void)flags;
	for (done = 0; done < size; done += part) {
		some = chance();
		part = size - done < sizeof(some) ? size - done : sizeof(some);
		memcpy((char *)bytes + done, &some, part);
	}
	return (ssize_t)size;
}
