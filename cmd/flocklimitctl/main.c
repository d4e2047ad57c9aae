/* SPDX-License-Identifier: ISC */
/*
 * main.c - flocklimitctl, for limiters of this machine.
 */
#include "commands.h"
#include "files.h"
#include "limiter_files.h"

const struct kind here = { KIND_OF_FILES, .operating = &operating_files };

int
main(int argc, char **argv)
{
	return flocklimitctl_main(argc, argv);
}
