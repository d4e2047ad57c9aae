/* SPDX-License-Identifier: ISC */
/*
 * jobserver.h - GNU make's jobserver, each token of which is backed by a permit.
 */
#ifndef JOBSERVER_H
#define JOBSERVER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "clients.h"
#include "flocklimit.h"
#include "spawn.h"

struct jobserver;

struct jobserver_plan {
	struct flk *limiter;
	const char *limiter_name;
	struct flk_request want; /* for each token */
	uint32_t jobs;           /* at once, with the one that needs no token */
	enum jobserver_style style;
	char **command;
	bool quiet;
};

/*
 * Call it before the command starts: sets MAKEFLAGS, adds to the descriptors that the command
 * inherits, and lends what is free.  Returns NULL, after a line, if it can't.
 */
struct jobserver *jobserver_open(const struct jobserver_plan *plan, struct heritage *heritage);

/* The child that follows the history for it; 0: there is none. */
pid_t jobserver_follower(const struct jobserver *j);

/* The command runs, as this process. */
void jobserver_from(struct jobserver *j, pid_t command);

/* Acts on a signal for the jobserver.  True: the signal was not for the command. */
bool jobserver_hears(struct jobserver *j, const siginfo_t *info);

/*
 * The command has ended: releases the permits under which no job runs any more.  Prints a line if
 * the command seems to have ignored the jobserver.
 */
void jobserver_close(struct jobserver *j);

#endif
