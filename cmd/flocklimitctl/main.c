/* SPDX-License-Identifier: ISC */
/*
 * main.c - flocklimitctl, for limiters of this machine.
 */
#include "commands.h"

int
main(int argc, char **argv)
{
	return flocklimitctl_main(argc, argv);
}
