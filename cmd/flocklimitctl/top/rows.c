/* SPDX-License-Identifier: ISC */
/*
 * rows.c - the table of top.
 *
 * A column is as wide as the widest text in it so far.  One column of each table takes the rest of
 * the line; if the rest is too little, other columns are left out, the least useful first.
 */
#include "rows.h"

#include <errno.h>
#include <inttypes.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "layout.h"
#include "limiter_state.h"
#include "now.h"
#include "paint.h"
#include "process.h"
#include "processes.h"
#include "suspended.h"
#include "text.h"
#include "kind.h"

#define LEAST 16 /* width of the column that takes the rest, at least */
#define CELL  ROW_TEXT

struct column {
	const char *title;
	bool left;
	int worth; /* the smallest is left out first; 9: never.  0: the column takes the rest */
};

/* Of one limiter. */
enum { TURN, TICKET, WEIGHT, SEAT, MACHINE, PID, USER, TIME, STARTS, COMMAND };

static const struct column of_one[] = {
	[TURN] = { "#", false, 9 },        [TICKET] = { "TICKET", false, 7 },
	[WEIGHT] = { "WEIGHT", false, 2 }, [SEAT] = { "SEAT", false, 1 },
	[MACHINE] = { "HOST", true, 5 },   [PID] = { "PID", false, 5 },
	[USER] = { "USER", true, 3 },      [TIME] = { "TIME", false, 6 },
	[STARTS] = { "STARTS", false, 4 }, [COMMAND] = { "COMMAND", true, 0 },
};

static const struct column of_all[] = {
	{ "LIMITER", true, 0 },  { "USED", false, 9 },   { "HOLDING", false, 1 },
	{ "WAITING", false, 4 }, { "OLDEST", false, 3 }, { "STATE", true, 2 },
};

static const struct column *
columns_of(const struct screen *v, int *n)
{
	*n = v->name != NULL ? CELLS : 6;
	return v->name != NULL ? of_one : of_all;
}

const char *
rows_sort_name(const struct screen *v)
{
	static const char *const of_takers[TAKER_ORDERS][2] = {
		[BY_TURN] = { "by turn", "by turn, reversed" },
		[BY_TIME] = { "by time", "by time, reversed" },
		[BY_WEIGHT] = { "by weight", "by weight, reversed" },
		[BY_PID] = { "by pid", "by pid, reversed" },
	};
	static const char *const of_limiters[LIMITER_ORDERS][2] = {
		[BY_NAME] = { "by name", "by name, reversed" },
		[BY_USED] = { "by use", "by use, reversed" },
		[BY_WAITERS] = { "by waiters", "by waiters, reversed" },
		[BY_OLDEST] = { "by oldest wait", "by wait, reversed" },
	};

	return v->name != NULL ? of_takers[v->taker_order][v->reverse]
			       : of_limiters[v->limiter_order][v->reverse];
}

/* ---- what is not in the copied records ---- */

/*
 * Remembers the last name: most rows are of one user, and the name may come from another machine.
 */
static const char *
user_of(uid_t uid)
{
	static char name[USER_TEXT];
	static uid_t known;

	if (name[0] == '\0' || uid != known)
		user_name(uid, false, name);
	known = uid;
	return name;
}

void
rows_look_up(struct screen *v)
{
	size_t i, end = v->top + layout_height();
	char remedy[REMEDY_TEXT];

	for (i = v->top; i < end && i < v->rows; i++) {
		struct row *r = &v->row[i];
		if (r->entry == NULL)
			continue;
		r->orphan = outlived(r->entry);
		r->suspended =
		    r->entry->host == NULL ? process_suspended((pid_t)r->entry->pid, remedy) : NULL;
		snprintf(r->user, sizeof(r->user), "%s", user_of((uid_t)r->entry->uid));
	}
}

/* ---- cells ---- */

const char *
rows_command(const struct row *r, char room[ROW_TEXT])
{
	const struct flk_entry *e = r->entry;
	char command[VISIBLE(FLK_COMMAND)], more[MORE_TEXT];

	snprintf(room, ROW_TEXT, "%s%s%s%s%s%s%s", r->orphan ? "(orphan) " : "",
		 e->silent ? "(silent) " : "", r->suspended != NULL ? "(" : "",
		 r->suspended != NULL ? r->suspended : "", r->suspended != NULL ? ") " : "",
		 visible(e->command, command, sizeof(command)), more_text(e, r->fair, more));
	return room;
}

static void
cell_of_entry(const struct row *r, int column, char text[CELL])
{
	const struct flk_entry *e = r->entry;
	const char *host = e->host != NULL ? e->host : kind_machine();
	char room[40];

	switch (column) {
	case TURN:
		if (e->holds)
			snprintf(text, CELL, "run");
		else
			snprintf(text, CELL, "%u", r->position);
		break;
	case TICKET:
		snprintf(text, CELL, "%" PRIu64, e->ticket);
		break;
	case WEIGHT:
		weight_text(e, text);
		break;
	case SEAT:
		if (e->holds)
			seats_of_permit(e->seats, e->seat, text);
		break;
	case MACHINE:
		snprintf(text, CELL, "%s", host != NULL ? host : "");
		break;
	case PID:
		snprintf(text, CELL, "%d", e->pid);
		break;
	case USER:
		snprintf(text, CELL, "%s", r->user);
		break;
	case TIME:
		snprintf(text, CELL, "%s", span(seconds_since(e->since_ns), false, room));
		break;
	case STARTS:
		if (!e->holds && r->starts_in_s >= 0)
			snprintf(text, CELL, "~%s", span(r->starts_in_s, false, room));
		break;
	default:
		rows_command(r, text);
		break;
	}
}

static const char *
why_unusable(int error)
{
	return error == -ENOENT ? "there is no such limiter" : explain(error);
}

static void
cell_of_limiter(const struct row *r, int column, char text[CELL])
{
	const struct flk_snapshot *s = r->s;
	char room[32];

	if (column == 0)
		snprintf(text, CELL, "%s", r->name);
	else if (column == 5)
		snprintf(text, CELL, "%s", s != NULL ? state_of(s) : why_unusable(r->error));
	else if (s == NULL)
		return;
	else if (column == 1)
		snprintf(text, CELL, "%" PRIu64 "/%u", s->used, s->limit);
	else if (column == 2)
		snprintf(text, CELL, "%u", s->holders);
	else if (column == 3)
		snprintf(text, CELL, "%u", s->waiters);
	else if (column == 4 && s->waiters > 0)
		snprintf(text, CELL, "%s",
			 span(seconds_since(entry_waiting_longest(s)->since_ns), false, room));
}

static void
cell(const struct row *r, int column, char text[CELL])
{
	text[0] = '\0';
	if (r->entry != NULL)
		cell_of_entry(r, column, text);
	else
		cell_of_limiter(r, column, text);
}

bool
rows_match(const struct row *r, const char *sought)
{
	static const int where[] = { TICKET, PID, MACHINE, COMMAND };
	char text[CELL];
	size_t k;

	if (r->entry == NULL)
		return strcasestr(r->name, sought) != NULL;
	for (k = 0; k < sizeof(where) / sizeof(where[0]); k++) {
		cell(r, where[k], text);
		/* A number must match whole, or 1 would match nearly every row. */
		if (k < 2 ? strcmp(text, sought) == 0 : strcasestr(text, sought) != NULL)
			return true;
	}
	return strcasestr(user_of((uid_t)r->entry->uid), sought) != NULL;
}

/* ---- widths ---- */

/* A command, or the reason why a limiter can't be looked at, takes the rest of the line. */
static bool
is_cut(const struct row *r, int column)
{
	return r->entry != NULL ? column == COMMAND : r->s == NULL && column > 0;
}

/* The column of machines is shown if a taker is on another machine. */
static bool
is_told(const struct screen *v, int column)
{
	size_t i;

	if (v->name == NULL || column != MACHINE || v->width[column] > 0)
		return true;
	for (i = 0; i < v->rows; i++)
		if (v->row[i].entry->host != NULL)
			return true;
	return false;
}

static void
grow(struct screen *v, int height)
{
	int n, k, i, width;
	const struct column *column = columns_of(v, &n);
	char text[CELL];

	for (k = 0; k < n; k++) {
		if (!is_told(v, k))
			continue;
		if ((int)strlen(column[k].title) > v->width[k])
			v->width[k] = (int)strlen(column[k].title);
		for (i = 0; i < height && v->top + (size_t)i < v->rows; i++) {
			const struct row *r = &v->row[v->top + (size_t)i];
			if (is_cut(r, k))
				continue;
			cell(r, k, text);
			width = (int)strlen(text);
			if (width > v->width[k])
				v->width[k] = width;
		}
	}
}

/*
 * The widths for this window; 0: the column is left out.  Afterwards, either LEAST columns of the
 * window or more are left for the column that takes the rest; or all columns beside it are of worth
 * 9, and it gets what they leave, which may be nothing.  So the table is no wider than the window,
 * unless the columns of worth 9 alone are wider: then paint_at() cuts them off.
 */
static void
fit_widths(const struct screen *v, int width[CELLS])
{
	int n, k, rest, least, worst = 0;
	const struct column *column = columns_of(v, &n);

	memcpy(width, v->width, sizeof(v->width));
	for (;;) {
		rest = COLS;
		least = 9;
		for (k = 0; k < n; k++) {
			if (column[k].worth == 0 || width[k] == 0)
				continue;
			rest -= width[k] + 1;
			if (column[k].worth < least) {
				least = column[k].worth;
				worst = k;
			}
		}
		if (rest >= LEAST || least == 9)
			break;
		width[worst] = 0;
	}
	for (k = 0; k < n; k++)
		if (column[k].worth == 0 && (v->name != NULL || width[k] > rest))
			width[k] = rest > 0 ? rest : 0;
}

/* ---- the table ---- */

static enum colour
colour_of(const struct row *r)
{
	if (r->entry != NULL) {
		if (r->orphan)
			return RED;
		return r->suspended != NULL ? YELLOW : PLAIN;
	}
	if (r->s == NULL)
		return RED;
	return r->s->set.paused || r->s->set.closed || r->s->set.override == 0 ? YELLOW : PLAIN;
}

static void
draw_cell(int y, int *x, int width, bool left, const char *text)
{
	int used = (int)strlen(text), pad = !left && used < width ? width - used : 0;

	if (width == 0)
		return;
	paint_at(y, *x + pad, width - pad, text);
	*x += width + 1;
}

static void
draw_row(struct screen *v, int y, const int width[CELLS], const struct row *r)
{
	int n, k, x = 0;
	const struct column *column = columns_of(v, &n);
	char text[CELL];

	for (k = 0; k < n; k++) {
		bool error = r->entry == NULL && is_cut(r, k);
		if (error && k < n - 1)
			continue; /* the reason takes the room of these columns */
		cell(r, k, text);
		draw_cell(y, &x, error ? COLS : width[k], column[k].left, text);
	}
}

void
rows_draw(struct screen *v, int titles, int first, int height)
{
	int width[CELLS], n, k, x = 0;
	const struct column *column = columns_of(v, &n);

	grow(v, height);
	fit_widths(v, width);
	if (titles >= 0) {
		attron(A_UNDERLINE);
		mvhline(titles, 0, ' ', COLS);
		for (k = 0; k < n; k++)
			draw_cell(titles, &x, width[k], column[k].left, column[k].title);
		attroff(A_UNDERLINE);
	}
	for (k = 0; k < height && v->top + (size_t)k < v->rows; k++) {
		const struct row *r = &v->row[v->top + (size_t)k];
		bool marked = v->top + (size_t)k == v->mark;
		enum colour colour;
		colour = colour_of(r);
		if (marked)
			attron(A_REVERSE);
		paint_colour(colour, true);
		mvhline(first + k, 0, ' ', COLS);
		draw_row(v, first + k, width, r);
		paint_colour(colour, false);
		attroff(A_REVERSE);
	}
}
