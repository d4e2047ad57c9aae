/*
 * habits.h - what parallel, xargs and flocklimit call it.
 */
#ifndef MAP_HABITS_H
#define MAP_HABITS_H

#include "suggest.h"

/* Options that flockmap does not have; it ends with a NULL. */
extern const struct habit map_habits[];

#endif
