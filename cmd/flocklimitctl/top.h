/*
 * top.h - what is on the screen, and what is asked of it.
 */
#ifndef TOP_H
#define TOP_H

#include <stdbool.h>
#include <stddef.h>

#include "ctl.h"

enum sort { BY_TURN, BY_TIME, BY_WEIGHT, BY_PID, SORTS };

struct row {
	const struct flk_entry *entry; /* of one limiter; or else, of the list: */
	char *name;
	struct flk_snapshot *s; /* NULL: it can't be looked at, because of */
	int error;
	double starts_in_s; /* of a waiter; negative: unknown */
	unsigned position;
};

struct screen {
	const char *name; /* of the one limiter; NULL: all of them */
	struct flk_snapshot *s;
	struct row *row;
	size_t rows, room;
	size_t chosen, top; /* rows: the marked one, and the first on the screen */
	enum sort sort;
	char message[200]; /* about the last key; "" for none */
	double per_s;      /* grants, lately; negative: not known yet */
};

/* Where a row of the table may stand: lines of the terminal. */
size_t draw_height(const struct screen *v);
void draw(const struct screen *v);

/* Asks for a line at the bottom; false: nothing was typed. */
bool draw_ask(const char *question, char *answer, size_t size);

#endif
