/* SPDX-License-Identifier: ISC */
/*
 * name.c - a taker's name in the store, for one wait and one permit.
 */
#include "internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>
#include <sys/random.h>

#include "now.h"

void
taker_name(char self[STORE_SELF])
{
	uint64_t number = 0;

	while (number == 0) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = now_ns() ^ ((uint64_t)getpid() << 40);
		number &= INT64_MAX;
	}
	snprintf(self, STORE_SELF, "%016" PRIx64, number);
}
