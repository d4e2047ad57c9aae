/* SPDX-License-Identifier: ISC */
/*
 * board.h - the file that a host's keeper shares with its wrappers, mapped by all of them.  Its name is the
 * name of the keeper: see same.h.
 *
 * Locks of the kernel on its bytes say who is alive, and the kernel drops them with their owner: a taker
 * has the byte of its cell, the keeper and its deputy have one each (alive.h).  flock(2) of the whole file
 * is for the beginning and the end of a keeper.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdatomic.h>
#include <stdint.h>

#include "protocol/fleet.h"
#include "protocol/state.h"

#define BOARD_CELLS 4096

/*
 * What the keeper has in the store for one taker.  Its successor goes on with the rows whose wrappers are
 * dead, and for the others until their wrappers have come.  Only the keeper writes it, and `self' last.
 */
struct ledger_row {
	char self[STORE_SELF]; /* "": the row is free, and the store has nothing by it */
	char limiter[FLK_NAME_MAX + 1];
	uint8_t state;   /* enum permit_state */
	uint8_t guarded; /* a command may run under it */
	uint32_t cell;   /* of the taker */
	pid_t pid;       /* the command's */
	struct fleet_want want;
};

struct board {
	_Atomic uint64_t pulse_ns; /* CLOCK_MONOTONIC: the keeper ran then */
	char life[STORE_SELF];     /* its name in the store; its successors have the same */
	uint32_t keepers;          /* so many have had that life */
	uint32_t rows;             /* no row from there on was used in that life */

	/* See board_ns in talk.h.  The taker that has the cell's byte locked has the cell. */
	_Atomic uint64_t alive_ns[BOARD_CELLS];
	struct ledger_row row[BOARD_CELLS];
};

#endif
