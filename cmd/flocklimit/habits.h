/*
 * habits.h - what flock, sem, parallel, xargs, timeout and make call it.
 */
#ifndef HABITS_H
#define HABITS_H

#include "suggest.h"

/* Options that we do not have; it ends with a NULL. */
extern const struct habit habits[];

#endif
