/* SPDX-License-Identifier: ISC */
/*
 * memory.c - the cases of suite.h over the store in memory, under virtual time: with messages that
 * take no time, and with some that take long.
 */
#include <stddef.h>

#include "../memory/clock.h"
#include "../memory/world.h"
#include "suite.h"

static void
sleep_until(struct records *r, uint64_t until_ns)
{
	uint64_t due = records_due(r);

	due = due < until_ns ? due : until_ns;
	true_ns = due > true_ns ? due : true_ns;
}

static void
compact(int64_t revision)
{
	memory_compact(world_memory(), revision);
}

/* Up to 20 ms. */
static uint64_t
takes(void *context, const struct records *client, enum leg leg)
{
	(void)context;
	(void)client;
	(void)leg;
	return chance_below(20000000);
}

int
main(void)
{
	static const struct ground ground_of_memory = { .url = "memory://here",
							.sleep = sleep_until,
							.compact = compact };
	static const struct world_rules rules = { .takes = takes };
	int code;

	chance_seed(1);
	world_open(&rules, NULL);
	code = suite_run(&ground_of_memory);
	world_close();
	return code;
}
