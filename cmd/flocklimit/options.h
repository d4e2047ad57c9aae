/* SPDX-License-Identifier: ISC */
/*
 * options.h - the command line of flocklimit.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <sys/types.h>

#include "taker_options.h"

struct options {
	struct taker_options want;
	const char *line;            /* -c */
	bool background, keep_stdin; /* --background, --background=stdin */
	bool until_ready;
	bool no_fork, close_fd, preserve_status;
	pid_t hold_for; /* 0: not given */
	int fd;         /* --fd; -1: not given */
	bool unlock;
	const char
	    *shim;      /* what we were called as: the command's argv[0]; NULL: the command's own */
	bool unlimited; /* FLOCKLIMIT=off, or --or-run and limits files that can't be read */
	char *shell_argv[4];
	char **command;
};

/* Not with --hold-for and --fd, which run nothing. */
static inline bool
options_run(const struct options *o)
{
	return o->hold_for == 0 && o->fd == -1;
}

/* How a line ends that says why there is no permit; NULL: then nothing runs. */
static inline const char *
options_tail(const struct options *o)
{
	return o->want.how.or_run && options_run(o) ? "; the command runs without a permit" : NULL;
}

/*
 * Fills in o; returns -1, or the status to exit with at once, after a line.  It finds every error
 * that the words alone show, before any limiter is touched.
 */
int options_parse(struct options *o, int argc, char **argv);

#endif
