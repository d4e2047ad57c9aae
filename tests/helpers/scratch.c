/* SPDX-License-Identifier: ISC */
#include "scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

void
scratch_dir(char path[static SCRATCH])
{
	const char *above = getenv("TMPDIR");

	/* The paths of limiters are to fit into a hundred bytes. */
	if (above == NULL || *above != '/' || strlen(above) > 50)
		above = "/tmp";
	snprintf(path, SCRATCH, "%s/flocklimit.XXXXXX", above);
	if (mkdtemp(path) == NULL)
		tap_bail("%s", path);
}
