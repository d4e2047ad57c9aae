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
	uint32_t jobs;           /* at once, the one that needs no token among them */
	enum jobserver_style style;
	char **command;
	bool quiet;
};

/*
 * Before the command starts: prepares MAKEFLAGS, and the descriptors that it is to inherit, and
 * lends what is free.  Returns NULL when it has said why it can't.
 */
struct jobserver *jobserver_open(const struct jobserver_plan *plan, struct heritage *heritage);

/* True if that signal is one for the jobserver, and it has been dealt with. */
bool jobserver_hears(struct jobserver *j, const siginfo_t *info);

/* The command has ended: the permits of the jobs that have ended go back. */
void jobserver_close(struct jobserver *j);

#endif
