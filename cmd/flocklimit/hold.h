/*
 * hold.h - --hold-for: a permit for a process that is no child of ours.
 */
#ifndef HOLD_H
#define HOLD_H

#include "options.h"

struct flk_taker;

/*
 * Splits in two.  The keeper, in which this returns -1, goes on to take the permit, and then
 * calls hold_keep().  In the other it returns the exit status once the keeper has said the
 * ticket, or has failed.
 */
int hold_split(const struct options *o);

/* Says the ticket, and holds the permit until the process ends, or SIGTERM. */
int hold_keep(const struct options *o, struct flk_taker *t);

#endif
