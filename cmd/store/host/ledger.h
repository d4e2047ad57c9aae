/* SPDX-License-Identifier: ISC */
/*
 * ledger.h - what a host's keeper leaves to its successor: the rows of the board, with their descriptors in
 * the deputy.  The keeper of one wrapper has none: the wrapper itself has all of it.
 */
#ifndef LEDGER_H
#define LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include "board.h"
#include "deputy.h"

void ledger_begin(struct board *board);

/* Whether there is one. */
bool ledger_is_kept(void);

/* A row as given; NULL: there is no ledger, or no room in it. */
struct ledger_row *ledger_add(const struct ledger_row *row);

/* The deputy has that descriptor, too. */
void ledger_keep(const struct ledger_row *row, enum deputy_kind kind, int fd);

/* The store has nothing by it any more.  NULL: nothing is done. */
void ledger_remove(struct ledger_row *row);

/* What the deputy has for it, for the keeper to take over, or -1. */
int ledger_give(const struct ledger_row *row, enum deputy_kind kind);

/* Each row that is in use; NULL: there is none after that one. */
struct ledger_row *ledger_next(struct ledger_row *row);

#endif
