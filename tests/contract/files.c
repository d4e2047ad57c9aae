/* SPDX-License-Identifier: ISC */
/*
 * files.c - the contract's limiters are files in a directory of the test.
 */
#include <stdlib.h>
#include <sys/stat.h>

#include "contract.h"

static void
begin_files(void)
{
	const char *dir = fresh_path();

	if (mkdir(dir, 0700) != 0 || setenv("FLOCKLIMIT_DIR", dir, 1) != 0)
		tap_bail("no directory %s", dir);
}

const struct side side = { .which = FILES,
			   .begin = begin_files,
			   .attach = flk_attach,
			   .locate = flk_locate,
			   .map_new = flk_map_new,
			   .strerror = flk_strerror };
