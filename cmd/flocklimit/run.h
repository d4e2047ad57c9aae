/* SPDX-License-Identifier: ISC */
/*
 * run.h - standing by while the command runs.
 */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

#include "usage.h"

struct jobserver;
struct options;
struct pin;
struct ready;

/* How the command ended, for flk_ended(), and what it took, for flk_took(). */
struct ending {
	int status;
	struct usage usage;
};

/*
 * Waits for the command; passes signals on, stops when it stops, ends it at its run timeout.  Every
 * signal must be blocked.  Returns the exit status for flocklimit, and fills in *end.
 */
int run(const struct options *o, pid_t command, struct jobserver *j, struct ready *ready,
	struct pin *pin, struct ending *end);

#endif
