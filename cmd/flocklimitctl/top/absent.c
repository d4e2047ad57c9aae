/* SPDX-License-Identifier: ISC */
/*
 * absent.c - the verb top of a flocklimitctl that was built without ncurses.
 */
#include "ctl.h"
#include "say.h"

int
top(const struct ctl *c)
{
	(void)c;
	say(NULL, "top: this flocklimitctl was built without ncurses: use show");
	return FAILED;
}
