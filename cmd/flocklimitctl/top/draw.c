/* SPDX-License-Identifier: ISC */
/*
 * draw.c - the screen of top.  We draw all of it each time, and curses sends what has changed.
 */
#include "draw.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "layout.h"
#include "limiter_state.h"
#include "paint.h"
#include "rows.h"

__attribute__((format(printf, 4, 5))) static void
put(int y, int x, int width, const char *format, ...)
{
	char text[600];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	paint_at(y, x, width, text);
}

/* ---- the top of the screen ---- */

#define CLOCK 8
#define SORT  20 /* columns for "by waiters, reversed" */
#define RATE  16 /* for "12345.6 grants/s" */
#define LEAST 10 /* a shorter bar shows nothing */
#define TITLE 400

static void
draw_clock(void)
{
	char text[CLOCK + 1];
	time_t now = time(NULL);
	struct tm tm;

	if (COLS < 40)
		return;
	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%T", &tm);
	paint_at(0, COLS - CLOCK, CLOCK, text);
}

static int
title_width(void)
{
	return COLS < 40 ? COLS : COLS - CLOCK - 1;
}

/* A part of the long form, without its end, would say nothing of the waiters. */
static void
draw_title(const char *whole, const char *brief)
{
	attron(A_BOLD);
	paint_at(0, 0, title_width(), (int)strlen(whole) <= title_width() ? whole : brief);
	attroff(A_BOLD);
}

static enum colour
colour_of(const struct flk_snapshot *s)
{
	if (s->used > s->limit && s->set.override != 0)
		return RED;
	return s->set.closed || s->set.paused || s->set.override == 0 ? YELLOW : GREEN;
}

static void
draw_bar(int y, const struct screen *v)
{
	const struct flk_snapshot *s = v->s;
	int width = COLS - RATE - SORT - 4, filled, k;
	bool with_rate = width >= LEAST;
	double part = s->limit > 0 ? (double)s->used / s->limit : (double)(s->used > 0);

	if (!with_rate)
		width = COLS - SORT - 3;
	if (y < 0 || width < LEAST)
		return;
	filled = (int)((part < 1 ? part : 1) * width + 0.5);
	mvaddch(y, 0, '[');
	paint_colour(colour_of(s), true);
	for (k = 0; k < width; k++)
		mvaddch(y, 1 + k, k < filled ? '#' : '.');
	paint_colour(colour_of(s), false);
	mvaddch(y, 1 + width, ']');
	if (with_rate && v->per_s >= 0)
		put(y, width + 3, RATE, "%.1f grants/s", v->per_s);
}

static void
draw_head_of_one(const struct screen *v, const struct layout *l)
{
	const struct flk_snapshot *s = v->s;
	char why[300], whole[TITLE], brief[TITLE];

	if (s == NULL) {
		draw_title(v->name, v->name);
		return;
	}
	snprintf(whole, sizeof(whole), "%s: %s, %" PRIu64 " of %u in use%s, %u holding, %u waiting",
		 v->name, state_of(s), s->used, s->limit,
		 s->set.override != FLK_AUTO ? " (override)" : "", s->holders, s->waiters);
	snprintf(brief, sizeof(brief), "%s: %s, %" PRIu64 "/%u, %u waiting", v->name, state_of(s),
		 s->used, s->limit, s->waiters);
	draw_title(whole, brief);
	draw_bar(l->bar, v);
	why_it_waits(s, v->name, why, sizeof(why));
	paint_at(l->why, 0, COLS, why);
}

static void
draw_head_of_all(const struct screen *v)
{
	uint64_t used = 0;
	unsigned waiters = 0, holders = 0;
	char whole[TITLE], brief[TITLE];
	size_t i;

	for (i = 0; i < v->rows; i++) {
		const struct flk_snapshot *s = v->row[i].s;
		used += s != NULL ? s->used : 0;
		waiters += s != NULL ? s->waiters : 0;
		holders += s != NULL ? s->holders : 0;
	}
	snprintf(whole, sizeof(whole), "%zu limiter%s: %" PRIu64 " in use, %u holding, %u waiting",
		 v->rows, v->rows == 1 ? "" : "s", used, holders, waiters);
	snprintf(brief, sizeof(brief), "%zu limiter%s, %u waiting", v->rows,
		 v->rows == 1 ? "" : "s", waiters);
	draw_title(whole, brief);
}

/* ---- the bottom ---- */

static void
draw_prompt(int y, const struct screen *v)
{
	const struct prompt *p = &v->ask;
	bool yes_or_no = p->about == CLOSE || p->about == CANCEL;
	char text[sizeof(p->question) + sizeof(p->answer)];
	size_t width = COLS > 1 ? (size_t)COLS - 1 : 0, n = strlen(p->answer);

	snprintf(text, sizeof(text), "%s%s", p->question, p->answer);
	/* In a narrow window show the end of the answer, without the question. */
	if (strlen(text) > width)
		snprintf(text, sizeof(text), "%s",
			 yes_or_no ? "y/n?" : p->answer + (n > width ? n - width : 0));
	attron(A_BOLD);
	paint_at(y, 0, COLS, text);
	attroff(A_BOLD);
	paint_colour(YELLOW, true);
	addch('_' | A_BLINK);
	paint_colour(YELLOW, false);
}

static void
draw_keys(int y, const struct screen *v)
{
	attron(A_REVERSE);
	mvhline(y, 0, ' ', COLS);
	paint_at(
	    y, 0, COLS,
	    v->name != NULL
		? "q quit  h help  s sort  / find  p pause  o close  l limit  c cancel  S signal"
		: "q quit  h help  Enter look into it  s sort  / find  p pause  o close  l limit");
	attroff(A_REVERSE);
}

static void
draw_trouble(int y, const struct screen *v)
{
	paint_colour(RED, true);
	paint_at(y, 0, COLS, v->trouble);
	paint_colour(RED, false);
}

/* The last line but one: a question, a message, or all of the marked command. */
static void
draw_info(const struct layout *l, const struct screen *v)
{
	char command[ROW_TEXT];
	bool troubled = v->trouble[0] != '\0';

	if (troubled && l->why >= 0)
		draw_trouble(l->why, v);
	move(l->info, 0);
	if (v->ask.about != NOTHING) {
		clrtoeol();
		draw_prompt(l->info, v);
	} else if (v->message[0] != '\0') {
		clrtoeol();
		attron(A_BOLD);
		paint_at(l->info, 0, COLS, v->message);
		attroff(A_BOLD);
	} else if (troubled && l->why < 0) {
		clrtoeol();
		draw_trouble(l->info, v);
	} else if (l->keys >= 0 && v->name != NULL && v->mark < v->rows) {
		paint_at(l->info, 0, COLS, rows_command(&v->row[v->mark], command));
	}
}

/* ---- help ---- */

static void
draw_help(void)
{
	static const char *const lines[] = {
		"q F10             quit",
		"Up k  Down j      mark another",
		"PgUp ^B  PgDn ^F  a page up, down (also Space)",
		"Home g  End G     the first, the last",
		"Enter Right       look into the marked limiter",
		"Esc Left          back to all limiters (also Backspace)",
		"s F6              sort by another column",
		"r                 the other way round",
		"/ F3              find a name, command, user, ticket or pid",
		"n                 find the next",
		"p                 pause, resume",
		"o                 close, open",
		"l                 change the limit: N, N% of the CPUs, auto",
		"c F9              cancel: a waiter leaves the line, a holder gets TERM",
		"S                 send a signal to a holder",
		"^L                draw the screen anew",
		"^Z  ^C            suspend; end",
		"h ? F1            this help",
	};
	int i, n = (int)(sizeof(lines) / sizeof(lines[0]));

	for (i = 0; i < n && i < LINES - 1; i++)
		paint_at(i, 0, COLS, lines[i]);
	attron(A_BOLD);
	paint_at(n + 1 < LINES ? n + 1 : LINES - 1, 0, COLS, "any key to go back");
	attroff(A_BOLD);
}

void
draw(struct screen *v)
{
	struct layout l = layout();

	erase();
	/*
	 * A window of one column shows nothing: curses draws the last cell of a window by way of
	 * the cell to its left, and would read before the line.
	 */
	if (COLS < 2) {
		refresh();
		return;
	}
	if (v->help) {
		draw_help();
		refresh();
		return;
	}
	if (v->name != NULL)
		draw_head_of_one(v, &l);
	else
		draw_head_of_all(v);
	if (l.bar >= 0)
		put(l.bar, COLS > SORT ? COLS - SORT : 0, SORT, "%*s", SORT, rows_sort_name(v));
	draw_clock();
	rows_draw(v, l.titles, l.first, l.height);
	if (l.keys >= 0)
		draw_keys(l.keys, v);
	draw_info(&l, v);
	refresh();
}
