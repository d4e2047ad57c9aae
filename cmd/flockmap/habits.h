/* SPDX-License-Identifier: ISC */
/*
 * habits.h - options of parallel, xargs, flock and flocklimit, and those of flockmap that do the
 * same.
 */
#ifndef MAP_HABITS_H
#define MAP_HABITS_H

#include "suggest.h"

/* Options that flockmap does not have; the list ends with a NULL. */
extern const struct habit map_habits[];

#endif
