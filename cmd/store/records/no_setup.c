/* SPDX-License-Identifier: ISC */
/*
 * no_setup.c - setup.h, for an engine whose service needs none.
 */
#include "setup.h"

#include <errno.h>
#include <stdio.h>

const char *const *
records_setup(void)
{
	return NULL;
}

int
records_set_up(const struct url *url, char why[RECORDS_TEXT])
{
	(void)url;
	snprintf(why, RECORDS_TEXT, "it needs no setup");
	return -ENOTSUP;
}
