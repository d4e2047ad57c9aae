/* SPDX-License-Identifier: ISC */
/*
 * main.c - flockmap, for limiters of this machine.
 */
#include "commands.h"

int
main(int argc, char **argv)
{
	return flockmap_main(argc, argv);
}
