/* SPDX-License-Identifier: ISC */
/*
 * run.h - standing by while the command runs.
 */
#ifndef RUN_H
#define RUN_H

#include <sys/types.h>

struct jobserver;
struct options;
struct ready;

/*
 * Waits for the command; passes signals on, stops when it stops, ends it at its run timeout.  Every
 * signal must be blocked.  Returns the exit status for flocklimit; *ended is for flk_ended().
 */
int run(const struct options *o, pid_t command, struct jobserver *j, struct ready *ready,
	int *ended);

#endif
