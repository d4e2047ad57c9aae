/* SPDX-License-Identifier: ISC */
/*
 * screen.h - what is on the screen of top.  The words of all files of top:
 *
 * 	window	what the terminal shows: LINES lines of COLS columns
 * 	table	the takers of one limiter, or all limiters, in one of several orders
 * 	row	of the table: one taker, or one limiter; a cell is what a row has in a column
 * 	view	the rows of the table that fit into the window; scrolling moves the view
 * 	mark	on the row that keys are about; it stays with its taker or limiter
 * 	look	it copies the records of limiters, from which all rows are made: look.h
 * 	prompt	a question in the line above the keys, and the answer so far: prompt.h
 */
#ifndef SCREEN_H
#define SCREEN_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl.h"
#include "flocklimit.h"
#include "user.h"

#define CELLS 10 /* columns of a table, at most */

/* A limiter's name; or the path of another user's. */
#define ROW_NAME PATH_MAX

/* The first of each is the default. */
enum taker_order { BY_TURN, BY_TIME, BY_WEIGHT, BY_PID, TAKER_ORDERS };
enum limiter_order { BY_NAME, BY_USED, BY_WAITERS, BY_OLDEST, LIMITER_ORDERS };

struct row {
	/* Of a taker; NULL: the row is of a limiter. */
	const struct flk_entry *entry;
	uint32_t fair;      /* how keys are spelled in its limiter: an enum flk_fair */
	double starts_in_s; /* of a waiter; negative: unknown */
	unsigned position;
	/* Set by rows_look_up(), for the rows in the view. */
	const char *suspended; /* "stopped"; NULL: it goes on */
	bool orphan;
	char user[USER_TEXT];

	/* Of a limiter. */
	char *name;
	uint64_t identity;
	struct flk_snapshot *s; /* NULL: it can't be looked at, because of */
	int error;
};

enum question { NOTHING, LIMIT, CLOSE, CANCEL, SIGNAL, FIND };

/* A question at the bottom, while it is open. */
struct prompt {
	enum question about;
	char question[120], answer[64];
	uint64_t identity;      /* of the limiter that it is about */
	struct flk_entry entry; /* the row that was marked when the question was opened */
	char name[ROW_NAME];
};

struct screen {
	const struct ctl *c;
	const char *name;       /* of the one limiter; NULL: all of them */
	const char *attach;     /* the same, for here.attach() */
	char entered[ROW_NAME]; /* its name, if the user chose it from all; else "" */

	struct flk *f; /* the one limiter, as the last look opened it */
	uint64_t identity, seen;
	struct flk_snapshot *s;
	struct row *row;
	size_t rows, room;

	size_t mark, top;       /* rows: the marked one, and the first in the view */
	uint64_t marked_ticket; /* of one limiter; of all: */
	char marked_name[ROW_NAME];
	enum taker_order taker_order;
	enum limiter_order limiter_order;
	bool reverse, help;
	int width[CELLS]; /* of the columns; they only grow, so that the table does not jump */

	char trouble[300]; /* why there is nothing to show; "" */
	char message[200]; /* about the last key; "" */
	char sought[64];
	struct prompt ask;
	double per_s; /* grants per second, lately; negative: not known yet */
	uint64_t granted, granted_ns;
	uint64_t next_ns, soonest_ns; /* when the next look is due; with news, the earliest time */
};

/* Adds an empty row; NULL: no memory. */
struct row *screen_add_row(struct screen *v);
void screen_forget_rows(struct screen *v);

/*
 * Sorts the rows in the order of the table; the mark stays with its taker or limiter if that is
 * still there.
 */
void screen_sort(struct screen *v);

/* The same, in the next order. */
void screen_sort_next(struct screen *v);

/* Marks a row, and scrolls so that it is in the view. */
void screen_move(struct screen *v, long row);

/* From all limiters to one of them, and back. */
void screen_enter(struct screen *v, const char *name);
void screen_leave(struct screen *v);

#endif
