/* SPDX-License-Identifier: ISC */
/*
 * main.c - flocklimit, for limiters of this machine.
 */
#include "commands.h"

int
main(int argc, char **argv)
{
	return flocklimit_main(argc, argv);
}
