/* SPDX-License-Identifier: ISC */
/*
 * deputy.h - the process beside a host's keeper.  It has a second copy of every descriptor by which a
 * permit lasts, and forks another keeper when the keeper dies, or has not run for a third of the ttl: then
 * it kills the keeper first, and what is dead sends nothing any more.  When the deputy dies, the keeper
 * forks another one.
 */
#ifndef DEPUTY_H
#define DEPUTY_H

#include <stdint.h>

#include "meeting.h"

struct board;

enum deputy_kind { DEPUTY_GUARD, DEPUTY_PIDFD, DEPUTY_LOCAL, DEPUTY_KINDS };

/* What a host's two processes have from its beginning. */
struct host {
	struct meeting meeting;
	int listener, file; /* file: the board's */
	struct board *board;
};

/* In a child of the wrapper: becomes the deputy, which forks the first keeper. */
_Noreturn void deputy_run(struct host *h);

/* ---- in the keeper ---- */

/* Readable when the deputy has died: then deputy_again() forks another, which has nothing yet. */
int deputy_socket(void);
void deputy_again(void);

/* The deputy has a copy of it from now on, for that row of the ledger, in place of an earlier one. */
void deputy_keep(uint32_t row, enum deputy_kind kind, int fd);
void deputy_drop(uint32_t row);

/* What the deputy had for that row when this keeper began: the caller's from now on, or -1. */
int deputy_give(uint32_t row, enum deputy_kind kind);

/* The keeper ends, and so does the deputy. */
void deputy_end(void);

#endif
