/* SPDX-License-Identifier: ISC */
/*
 * clients.h - which programs understand which form of the jobserver's protocol.
 */
#ifndef CLIENTS_H
#define CLIENTS_H

#include <stdbool.h>

#include "manner.h"
#include "spawn.h"

/*
 * True: the command gets a FIFO to open; false: two descriptors to inherit.  JOBSERVER_BEST asks
 * what the command understands.  Prints a line if the command is known to ignore the jobserver,
 * unless *QUIET, and sets *QUIET then: nothing more is to be said of that.
 */
bool clients_know_fifo(char *const *command, enum jobserver_style style,
		       const struct heritage *heritage, const char *limiter_name, bool *quiet);

/*
 * The command without the words that say how many jobs it is to run, as far as they are known, each of
 * which is said if VERBOSE; NULL: no memory.
 */
char **clients_drop_jobs(char **command, const char *limiter_name, bool verbose);

#endif
