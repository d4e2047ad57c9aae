/* SPDX-License-Identifier: ISC */
/*
 * sem_habits.h - options of GNU parallel that flocksem does not have, and what to do instead.
 */
#ifndef SEM_HABITS_H
#define SEM_HABITS_H

#include "suggest.h"

extern const struct habit sem_habits[];

#endif
