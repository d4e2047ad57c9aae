/* SPDX-License-Identifier: ISC */
/*
 * background.h - --background: flocklimit returns when the command has its permit and runs.
 */
#ifndef BACKGROUND_H
#define BACKGROUND_H

#include "options.h"
#include "spawn.h"

/*
 * Forks.  In the child, the wrapper, it returns -1.  In the parent it returns the exit status: 0
 * once the command runs, or the wrapper's status if no command could be started.
 */
int background_split(const struct options *o);

/* In the wrapper, before it starts the command: -1, or the status to exit with. */
int background_begin(const struct options *o, struct heritage *h);

/* In the wrapper: the command runs. */
void background_started(void);

#endif
