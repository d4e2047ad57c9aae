/* SPDX-License-Identifier: ISC */
/*
 * noop.c - the command of a user who wants nothing.
 */
#include <unistd.h>

int
main(void)
{
	_exit(0);
}
