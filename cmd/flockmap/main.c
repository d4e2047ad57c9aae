/* SPDX-License-Identifier: ISC */
/*
 * main.c - flockmap, for limiters of this machine.
 */
#include "commands.h"
#include "files.h"

const struct kind here = { KIND_OF_FILES, .map_new = flk_map_new };

int
main(int argc, char **argv)
{
	return flockmap_main(argc, argv);
}
