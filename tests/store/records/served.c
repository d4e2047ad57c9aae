/* SPDX-License-Identifier: ISC */
/*
 * served.c - the cases of suite.h over the store in memory, as a process of its own.
 */
#include "../start.h"
#include "suite.h"

static void
compact(int64_t revision)
{
	char command[40];

	snprintf(command, sizeof(command), "compact %lld", (long long)revision);
	tell_server(&store_server, command);
}

int
main(void)
{
	struct ground here = { .url = start_store(), .sleep = sleep_really, .compact = compact };

	return suite_run(&here);
}
