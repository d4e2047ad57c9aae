/* SPDX-License-Identifier: ISC */
/*
 * setup.h - what a service must be told before an engine can keep records in it.
 */
#ifndef SETUP_H
#define SETUP_H

#include "records.h"

/*
 * What an administrator may run by the service's own tools, in pieces, with NULL after the last one; NULL:
 * the service needs nothing.  Run again, it only adds what is missing.
 */
const char *const *records_setup(void);

/* Runs that by the user of the URL, and blocks meanwhile: 0, or a negative code and why. */
int records_set_up(const struct url *url, char why[RECORDS_TEXT]);

#endif
