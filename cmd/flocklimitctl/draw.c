/*
 * draw.c - the screen of top.  It is drawn anew each time; curses sends what has changed.
 */
#include "top.h"

#include <inttypes.h>
#include <ncurses.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <wchar.h>

#include "process.h"
#include "text.h"

#define HEAD 4 /* lines above the table's rows */
#define FOOT 2

static void
put(int y, int x, int width, const char *text)
{
	wchar_t wide[512];
	size_t n = mbstowcs(wide, text, sizeof(wide) / sizeof(wide[0]) - 1);

	if (width <= 0 || y >= LINES || x >= COLS)
		return;
	if (x + width > COLS)
		width = COLS - x;
	if (n == (size_t)-1) {
		mvaddnstr(y, x, text, width);
		return;
	}
	wide[n] = L'\0';
	mvaddnwstr(y, x, wide, width);
}

__attribute__((format(printf, 4, 5))) static void
putf(int y, int x, int width, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	put(y, x, width, text);
}

size_t
draw_height(const struct screen *v)
{
	(void)v;
	return LINES > HEAD + FOOT ? (size_t)(LINES - HEAD - FOOT) : 1;
}

/* ---- the top of the screen ---- */

static void
draw_bar(int y, const struct flk_snapshot *s)
{
	int width = COLS - 2 < 60 ? COLS - 2 : 60, filled, k;

	if (width < 10)
		return;
	filled = s->limit > 0 ? (int)((double)s->used / s->limit * width) : 0;
	if (filled > width)
		filled = width;
	mvaddch(y, 0, '[');
	attron(A_BOLD);
	for (k = 0; k < filled; k++)
		mvaddch(y, 1 + k, '|');
	attroff(A_BOLD);
	for (; k < width; k++)
		mvaddch(y, 1 + k, '.');
	mvaddch(y, 1 + width, ']');
}

static void
draw_clock(void)
{
	char text[20];
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	strftime(text, sizeof(text), "%T", &tm);
	put(0, COLS - 8, 8, text);
}

static void
draw_head_of_one(const struct screen *v)
{
	const struct flk_snapshot *s = v->s;
	char why[300];

	if (s == NULL) {
		putf(0, 0, COLS - 9, "%s", v->name);
		return;
	}
	attron(A_BOLD);
	putf(0, 0, COLS - 9, "%s: %s, %" PRIu64 " of %u in use%s, %u holding, %u waiting", v->name,
	     state_of(s), s->used, s->limit, s->override != FLK_AUTO ? " (override)" : "",
	     s->holders, s->waiters);
	attroff(A_BOLD);
	draw_bar(1, s);
	if (v->per_s >= 0)
		putf(1, 63, COLS - 63, "%.1f grants/s", v->per_s);
	why_it_waits(s, why, sizeof(why));
	put(2, 0, COLS, why);
}

static void
draw_head_of_all(const struct screen *v)
{
	uint64_t used = 0;
	unsigned waiters = 0, holders = 0;
	size_t i;

	for (i = 0; i < v->rows; i++) {
		const struct flk_snapshot *s = v->row[i].s;
		used += s != NULL ? s->used : 0;
		waiters += s != NULL ? s->waiters : 0;
		holders += s != NULL ? s->holders : 0;
	}
	attron(A_BOLD);
	putf(0, 0, COLS - 9, "%zu limiters: %" PRIu64 " units in use, %u holding, %u waiting",
	     v->rows, used, holders, waiters);
	attroff(A_BOLD);
}

/* ---- the rows ---- */

static void
draw_entry(int y, const struct row *r)
{
	const struct flk_entry *e = r->entry;
	char time[32], starts[40] = "", user[40], command[VISIBLE(FLK_COMMAND)];
	bool stopped = process_is_stopped((pid_t)e->pid);

	span(e->since_s, false, time);
	if (!e->holds && r->starts_in_s >= 0) {
		starts[0] = '~';
		span(r->starts_in_s, false, starts + 1);
	}
	putf(y, 0, 5, e->holds ? "run" : "%4u", r->position);
	putf(y, 5, 9, "%8" PRIu64, e->ticket);
	putf(y, 14, 7, "%6u", e->weight);
	if (e->holds)
		putf(y, 21, 6, "%5u", e->seat);
	putf(y, 27, 9, "%8u", e->pid);
	put(y, 36, 9, user_name((uid_t)e->uid, false, user));
	putf(y, 46, 9, "%8s", time);
	putf(y, 55, 10, "%9s", starts);
	putf(y, 66, COLS - 66, "%s%s%s", outlived(e) ? "(orphan) " : "",
	     stopped ? "(stopped) " : "", visible(e->command, command, sizeof(command)));
}

static void
draw_limiter(int y, const struct row *r)
{
	const struct flk_snapshot *s = r->s;
	char wait[32] = "";

	put(y, 0, 30, r->name);
	if (s == NULL) {
		put(y, 31, COLS - 31, flk_strerror(r->error));
		return;
	}
	if (s->waiters > 0)
		span(s->entry[s->holders].since_s, false, wait);
	putf(y, 31, 14, "%6" PRIu64 "/%-6u", s->used, s->limit);
	putf(y, 45, 9, "%8u", s->holders);
	putf(y, 54, 9, "%8u", s->waiters);
	putf(y, 63, 9, "%8s", wait);
	put(y, 73, COLS - 73, state_of(s));
}

static void
draw_titles(const struct screen *v)
{
	static const char *const sorts[] = { "turn", "time", "weight", "pid" };

	attron(A_UNDERLINE);
	mvhline(HEAD - 1, 0, ' ', COLS);
	if (v->name != NULL)
		putf(HEAD - 1, 0, COLS,
		     "   #   TICKET WEIGHT  SEAT      PID USER          TIME STARTS IN  COMMAND");
	else
		putf(HEAD - 1, 0, COLS, "%-31s  USED/LIMIT   HOLDING  WAITING   OLDEST STATE",
		     "LIMITER");
	attroff(A_UNDERLINE);
	if (v->name != NULL && v->sort != BY_TURN)
		putf(LINES - 2, 0, COLS, "sorted by %s", sorts[v->sort]);
}

static void
draw_foot(const struct screen *v)
{
	const char *keys =
	    v->name != NULL
		? "q quit  s sort  p pause/resume  o close/open  l limit  c cancel  arrows move"
		: "q quit  enter look into it  p pause/resume  o close/open  l limit  arrows move";

	if (v->message[0] != '\0') {
		attron(A_BOLD);
		mvhline(LINES - 2, 0, ' ', COLS);
		put(LINES - 2, 0, COLS, v->message);
		attroff(A_BOLD);
	}
	attron(A_REVERSE);
	mvhline(LINES - 1, 0, ' ', COLS);
	put(LINES - 1, 0, COLS, keys);
	attroff(A_REVERSE);
}

void
draw(const struct screen *v)
{
	size_t i, height = draw_height(v);

	erase();
	v->name != NULL ? draw_head_of_one(v) : draw_head_of_all(v);
	draw_clock();
	draw_titles(v);
	for (i = 0; i < height && v->top + i < v->rows; i++) {
		const struct row *r = &v->row[v->top + i];
		int y = HEAD + (int)i;
		if (v->top + i == v->chosen)
			attron(A_REVERSE);
		mvhline(y, 0, ' ', COLS);
		r->entry != NULL ? draw_entry(y, r) : draw_limiter(y, r);
		attroff(A_REVERSE);
	}
	draw_foot(v);
	refresh();
}

bool
draw_ask(const char *question, char *answer, size_t size)
{
	int got;

	mvhline(LINES - 2, 0, ' ', COLS);
	put(LINES - 2, 0, COLS, question);
	echo();
	curs_set(1);
	timeout(-1);
	got = mvgetnstr(LINES - 2, (int)strlen(question), answer, (int)size - 1);
	noecho();
	curs_set(0);
	return got == OK && answer[0] != '\0';
}
