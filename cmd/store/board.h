/* SPDX-License-Identifier: ISC */
/*
 * board.h - what a wrapper sees of its keepers without a message.
 */
#ifndef BOARD_H
#define BOARD_H

#include <stdatomic.h>
#include <stdint.h>

/*
 * The board: memory that the wrapper shares with its keepers, with a cell for each taker.  The
 * keeper writes there when the permit was last confirmed, and the wrapper reads it: the wrapper
 * must know the permit's last moment even when the keeper is stopped, and should not wake for each
 * renewal.
 */
extern _Atomic uint64_t *board_ns;

#endif
