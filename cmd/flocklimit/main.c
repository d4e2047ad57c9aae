/* SPDX-License-Identifier: ISC */
/*
 * main.c - flocklimit, for limiters of this machine.
 */
#include "commands.h"
#include "files.h"

const struct kind here = { KIND_OF_FILES };

int
main(int argc, char **argv)
{
	return flocklimit_main(argc, argv);
}
