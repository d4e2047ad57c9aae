/* SPDX-License-Identifier: ISC */
/*
 * manner.h - how flocklimit waits for and runs its command: options of flocklimit alone, but a limits
 * file may have them, which the other commands read as well.
 */
#ifndef MANNER_H
#define MANNER_H

#include <stdbool.h>

#include "option.h"

/* The form of the jobserver's protocol; BEST: the one that the command understands. */
enum jobserver_style { JOBSERVER_FIFO, JOBSERVER_PIPE, JOBSERVER_BEST };

struct manner {
	bool jobserver, drops_jobs; /* --jobserver, --jobserver=force */
	enum jobserver_style style;
	bool or_run, tree, pin;
	uint64_t keep_ns;  /* --keep-place; 0: not given */
	const char *place; /* NULL: the words of the call say which place it is */
	bool verbose, quiet;
};

/* Options into the struct taker_options, which has a struct manner. */
extern const struct option_row manner_rows[];

#endif
