/* SPDX-License-Identifier: ISC */
/*
 * example.c - the cases of suite.h over the engine that shows how one is written.
 */
#include "../example.h"
#include "suite.h"

static void
compact(int64_t revision)
{
	memory_compact(example_service, revision);
}

int
main(void)
{
	static const struct ground here = { .url = "example://here",
					    .sleep = sleep_really,
					    .compact = compact };

	return suite_run(&here);
}
