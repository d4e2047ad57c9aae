/*
 * top.h - what is on the screen of top, and what is asked of it.
 */
#ifndef TOP_H
#define TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ctl.h"

#define CELLS 10 /* columns of a table, at most */

/* The first of each is how they come. */
enum sort {
	BY_TURN = 0,
	BY_TIME,
	BY_WEIGHT,
	BY_PID, /* of one limiter */
	BY_NAME = 0,
	BY_USED,
	BY_WAITERS,
	BY_OLDEST, /* of all */
	SORTS
};

struct row {
	const struct flk_entry *entry; /* of one limiter; or else, of the list: */
	char *name;
	uint64_t identity;
	struct flk_snapshot *s; /* NULL: it can't be looked at, because of */
	int error;
	double starts_in_s; /* of a waiter; negative: unknown */
	unsigned position;
	bool stopped, orphan; /* as of when it was drawn */
};

enum question { NOTHING, LIMIT, CLOSE, CANCEL, SIGNAL, FIND };

/* A question at the bottom, while it is open. */
struct prompt {
	enum question about;
	char question[120], answer[64];
	uint64_t identity;      /* of the limiter that it is about */
	struct flk_entry entry; /* what was marked when it was asked */
	char name[FLK_NAME_MAX + 1];
};

struct screen {
	const struct ctl *c;
	const char *name;               /* of the one limiter; NULL: all of them */
	const char *attach;             /* the same, for flk_attach() */
	char entered[FLK_NAME_MAX + 1]; /* it was entered from all; else "" */

	struct flk *f; /* the one, as it was looked at last */
	uint64_t identity, seen;
	struct flk_snapshot *s;
	struct row *row;
	size_t rows, room;

	size_t chosen, top; /* rows: the marked one, and the first on the screen */
	uint64_t marked;    /* its ticket or, of all: */
	char marked_name[FLK_NAME_MAX + 1];
	enum sort sort[2]; /* of all, of one */
	bool reverse, help;
	int width[CELLS]; /* of the columns; they only grow, lest they dance */

	char trouble[300]; /* why there is nothing to see; "" for none */
	char message[200]; /* about the last key; "" for none */
	char sought[64];
	struct prompt ask;
	double per_s; /* grants, lately; negative: not known yet */
	uint64_t granted, granted_ns;
	uint64_t next_ns, soonest_ns; /* when the next look is due; not sooner, for news */
};

/* ---- top.c ---- */

void top_enter(struct screen *v, const char *name);
void top_leave(struct screen *v);

/* Marks a row, and sees that it is on the screen. */
void top_move(struct screen *v, long row);
void top_sort(struct screen *v);

/* ---- prompt.c ---- */

/* On the last line but one, until the next key. */
void prompt_say(struct screen *v, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* How things stand in the limiter that a key is about; NULL: none can be looked at. */
const struct flk_snapshot *prompt_subject(const struct screen *v);
void prompt_toggle(struct screen *v, int key);
void prompt_open(struct screen *v, enum question about);
void prompt_take(struct screen *v, int key);
void prompt_find(struct screen *v);

/* ---- keys.c ---- */

#define TOP_CTRL(letter) ((letter)&0x1f)

/* False: it is the end. */
bool keys_take(struct screen *v, int key);

/* ---- draw.c, rows.c ---- */

enum colour { PLAIN, GREEN, YELLOW, RED };

void draw_begin(void);
void draw(struct screen *v);

/* How many rows there is room for; at least 1, for those who scroll. */
size_t draw_height(void);

/* What fits into so many columns of the screen; what is no character becomes '?'. */
void draw_at(int y, int x, int width, const char *text);
void draw_colour(enum colour colour, bool on);

/* The table: titles at line TITLES unless negative, rows from FIRST on. */
void rows_draw(struct screen *v, int titles, int first, int height);

/* The whole command of a row, with what is particular about it. */
#define ROW_TEXT 600
const char *rows_command(const struct row *r, char room[ROW_TEXT]);

/* The row has it in its name, user, command, or as its ticket or pid. */
bool rows_match(const struct row *r, const char *sought);

const char *rows_sort_name(const struct screen *v);

#endif
