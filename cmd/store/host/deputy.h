/* SPDX-License-Identifier: ISC */
/*
 * holder.h - the process beside a host's keeper.  It has a second copy of every descriptor by which a
 * permit lasts, and forks another keeper when the keeper dies, or has not run for a third of the ttl: then
 * it kills the keeper first, and what is dead sends nothing any more.  When the holder dies, the keeper
 * forks another one.
 */
#ifndef HOLDER_H
#define HOLDER_H

#include <stdint.h>

#include "meeting.h"

struct board;

enum holder_kind { HOLDER_GUARD, HOLDER_PIDFD, HOLDER_LOCAL, HOLDER_KINDS };

/* What a host's two processes have from its beginning. */
struct host {
	struct meeting meeting;
	int listener, file; /* file: the board's */
	struct board *board;
};

/* In a child of the wrapper: becomes the holder, which forks the first keeper. */
_Noreturn void holder_run(struct host *h);

/* ---- in the keeper ---- */

/* Readable when the holder has died: then holder_again() forks another, which has nothing yet. */
int holder_socket(void);
void holder_again(void);

/* The holder has a copy of it from now on, for that row of the ledger, in place of an earlier one. */
void holder_keep(uint32_t row, enum holder_kind kind, int fd);
void holder_drop(uint32_t row);

/* What the holder had for that row when this keeper began: the caller's from now on, or -1. */
int holder_give(uint32_t row, enum holder_kind kind);

/* The keeper ends, and so does the holder. */
void holder_end(void);

#endif
