/* SPDX-License-Identifier: ISC */
/*
 * habits.h - options of flock, sem, parallel, xargs, timeout and make, and ours that do the same.
 */
#ifndef HABITS_H
#define HABITS_H

#include "suggest.h"

/* Options that flocklimit does not have; the list ends with a NULL. */
extern const struct habit habits[];

/* Words in the place of a command, where no program has that name. */
extern const struct habit word_habits[];

#endif
