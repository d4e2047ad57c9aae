/* SPDX-License-Identifier: ISC */
/*
 * small.h - the limiter file with fewer slots and events than a real one, so that a repairer looks
 * at few slots, and a writer of the history soon writes over what a reader copies.
 */
#ifndef SMALL_H
#define SMALL_H

#include "layout.h"

#undef FIRST_SLOTS
#define FIRST_SLOTS 5u
#undef FLK_HISTORY
#define FLK_HISTORY 4
#undef EVENTS
#define EVENTS 8u

#endif
