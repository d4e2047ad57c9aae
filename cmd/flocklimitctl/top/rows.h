/* SPDX-License-Identifier: ISC */
/*
 * rows.h - the table of top.
 */
#ifndef ROWS_H
#define ROWS_H

#include <stdbool.h>

#include "screen.h"

/*
 * Asks the system what the records do not say of the takers in the view: who the user is, whether
 * the process is stopped, whether it is an orphan.  Call it before rows_draw(), which asks nothing.
 */
void rows_look_up(struct screen *v);

/* Draws the titles at line TITLES, unless that is negative, and the rows from line FIRST on. */
void rows_draw(struct screen *v, int titles, int first, int height);

/* The command of a row, with "(orphan)" and the like before it. */
#define ROW_TEXT 1000
const char *rows_command(const struct row *r, char room[ROW_TEXT]);

/* Whether the text is part of the row's name, user, host or command, or is its ticket or pid. */
bool rows_match(const struct row *r, const char *sought);

const char *rows_sort_name(const struct screen *v);

#endif
