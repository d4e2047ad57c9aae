/* SPDX-License-Identifier: ISC */
/*
 * unlimited.h - FLOCKLIMIT=off and --or-run: no limiter that others share, but still no more commands at
 * once than -n says.
 */
#ifndef UNLIMITED_H
#define UNLIMITED_H

#include "limiter.h"

/* A limiter of this process alone, in $TMPDIR: 0 and its path, or an error number. */
int unlimited_begin(struct taker_options *w, char path[LIMITER_NAME]);

/* Removes it. */
void unlimited_end(const char *path);

#endif
