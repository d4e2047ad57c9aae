/* SPDX-License-Identifier: ISC */
/*
 * real.c - the cases of suite.h over a real store, through the engine that this program has.
 *
 *	records-SCHEME URL [COMPACT]
 *
 * COMPACT is a command that gets a revision as its last word, and makes the store forget what happened
 * before that.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../../helpers/tap.h"
#include "suite.h"

static const char *compacter;

static void
compact(int64_t revision)
{
	char command[1024];

	snprintf(command, sizeof(command), "%s %lld >&2", compacter, (long long)revision);
	if (system(command) != 0)
		tap_bail("%s failed", command);
}

int
main(int argc, char **argv)
{
	struct ground here = { .sleep = sleep_really };

	if (argc < 2)
		tap_bail("no URL");
	here.url = argv[1];
	compacter = argc > 2 ? argv[2] : NULL;
	here.compact = argc > 2 ? compact : NULL;
	return suite_run(&here);
}
