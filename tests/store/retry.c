/* SPDX-License-Identifier: ISC */
/*
 * How long a caller pauses before it tries again: cmd/store/records/retry.c.
 */
#include "records/retry.h"

#include <stdbool.h>

#include "../helpers/tap.h"
#include "clock.h"

#define DRAWS 1000

/* Whether many draws lie between half of that and all of it, and come near to both. */
static bool
spreads(uint64_t most)
{
	uint64_t low = UINT64_MAX, high = 0;
	int i;

	for (i = 0; i < DRAWS; i++) {
		uint64_t n = retry_spread(most);

		low = n < low ? n : low;
		high = n > high ? n : high;
	}
	return low >= most / 2 && low < most / 2 + most / 20 && high <= most &&
	       high > most - most / 20;
}

static bool
pauses(unsigned failures, uint64_t most)
{
	uint64_t n = retry_pause(failures);

	return n >= most / 2 && n <= most;
}

int
main(void)
{
	unsigned n;
	bool last = true, short_ttl = true, long_ttl = true;

	ok(spreads(50 * MS), "50 ms are spread from half of it to all of it");
	ok(spreads(60 * SECOND), "a minute is, too");
	ok(retry_spread(0) == 0, "no pause stays none");
	ok(pauses(0, 50 * MS) && pauses(1, 100 * MS) && pauses(5, 1600 * MS),
	   "a pause begins with 50 ms and is doubled by each failure");
	for (n = 6; n < 200; n++) {
		last &= pauses(n, 2 * SECOND);
		short_ttl &= retry_renewal(n, 2) <= 2 * SECOND / 6;
		long_ttl &= retry_renewal(n, 60) >= SECOND;
	}
	ok(last && pauses(UINT32_MAX, 2 * SECOND), "up to 2 s");
	ok(short_ttl, "a renewal is tried again within a sixth of the ttl");
	ok(long_ttl, "which says nothing where the ttl is long");
	return tap_done();
}
