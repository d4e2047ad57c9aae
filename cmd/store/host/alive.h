/* SPDX-License-Identifier: ISC */
/*
 * alive.h - the locks on the bytes of a board, by which its users know who is alive.
 */
#ifndef ALIVE_H
#define ALIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"

/* A cell's number is its byte; these two come after them. */
#define ALIVE_KEEPER BOARD_CELLS
#define ALIVE_DEPUTY (BOARD_CELLS + 1)

/*
 * Takes a cell's byte for as long as the descriptor is open, whatever process has it; false: it is
 * another's.
 */
bool alive_take_cell(int file, uint32_t cell);

void alive_leave_cell(int file, uint32_t cell);

/* Whether any other descriptor has it. */
bool alive_has_cell(int file, uint32_t cell);

/*
 * Says, until this process ends, that it is the keeper or the deputy.  A lock of that kind goes, too, when
 * the process closes any descriptor of the file: so it must close none.
 */
bool alive_say(int file, uint32_t who);

/* Kills the keeper or the deputy, and no other process; nothing, if there is none. */
void alive_kill(int file, uint32_t who);

#endif
