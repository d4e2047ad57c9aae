/*
 * options.h - the command line of flocklimit.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define NEVER UINT64_MAX

struct options {
	const char *limiter;            /* as people know it: a name, or a path as it was typed */
	const char *file, *name, *line; /* what was given: -f, -N, -c */
	char name_room[72];
	mode_t mode;      /* 0: not given */
	uint32_t limit;   /* 0: not given */
	uint32_t percent; /* 0: not given */
	uint32_t weight;
	uint64_t timeout_ns; /* NEVER; 0: do not wait */
	bool limit_queue;
	uint32_t max_queue;
	int conflict_exit;
	uint64_t run_timeout_ns; /* NEVER */
	uint64_t kill_after_ns;  /* NEVER */
	int signal;
	bool no_fork, close_fd, queue_nested, verbose, quiet;
	pid_t hold_for; /* 0: a command is run */
	char *shell_argv[4];
	char **command;
};

/*
 * Fills in o; returns -1 to go on, or the status to exit with at once.  Nothing was touched by
 * then, and everything that the words alone can get wrong was said.
 */
int options_parse(struct options *o, int argc, char **argv);

#endif
