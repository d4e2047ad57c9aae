/* SPDX-License-Identifier: ISC */
#define LIBBSD_OPENBSD_VIS /* which strnvis() vis.h is to declare; we use none */
#include "text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <bsd/vis.h>
#include <wchar.h>
#include <sys/wait.h>

#include "flocklimit.h"
#include "say.h"

/* gcc 12 loses sight of what add() keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

struct cell {
	char *text;
	size_t width; /* in columns of a terminal */
};

struct table {
	unsigned columns, filled;
	bool number[COLUMNS];
	size_t width[COLUMNS];
	struct cell *cell;
	char (*colour)[8]; /* of each row */
	size_t rows, room;
};

static void *
must(void *p)
{
	if (p == NULL) {
		say(NULL, "no memory");
		exit(125);
	}
	return p;
}

static size_t
columns_of(const char *text)
{
	mbstate_t state = { 0 };
	size_t width = 0, n;
	wchar_t c;
	int w;

	for (; *text != '\0'; text += n) {
		n = mbrtowc(&c, text, MB_CUR_MAX, &state);
		if (n == (size_t)-1 || n == (size_t)-2)
			return width + strlen(text);
		w = wcwidth(c);
		width += w > 0 ? (size_t)w : 0;
	}
	return width;
}

static void
new_row(struct table *t)
{
	if (t->rows == t->room) {
		t->room = t->room * 2 + 16;
		t->cell = must(reallocarray(t->cell, t->room * t->columns, sizeof(*t->cell)));
		t->colour = must(reallocarray(t->colour, t->room, sizeof(*t->colour)));
	}
	t->colour[t->rows][0] = '\0';
	t->rows++;
}

static void
add(struct table *t, char *text)
{
	unsigned column = t->filled++ % t->columns;
	struct cell *cell;

	if (column == 0)
		new_row(t);
	cell = &t->cell[(t->rows - 1) * t->columns + column];
	cell->text = text;
	cell->width = columns_of(text);
	if (cell->width > t->width[column])
		t->width[column] = cell->width;
}

struct table *
table_new(const char *titles)
{
	struct table *t = must(calloc(1, sizeof(*t)));
	const char *p = titles;

	for (t->columns = 1; *p != '\0'; p++)
		t->columns += *p == '|';
	for (p = titles; p != NULL && t->filled < t->columns; p = strchr(p, '|')) {
		p += *p == '|';
		t->number[t->filled] = *p == '>';
		p += *p == '>';
		add(t, must(strndup(p, strcspn(p, "|"))));
	}
	table_colour(t, "1");
	return t;
}

void
table_cell(struct table *t, const char *format, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, format);
	n = vasprintf(&text, format, ap);
	va_end(ap);
	add(t, must(n < 0 ? NULL : text));
}

void
table_colour(struct table *t, const char *sgr)
{
	snprintf(t->colour[t->rows - 1], sizeof(t->colour[0]), "%s", sgr);
}

static void
print_row(const struct table *t, size_t row, bool coloured)
{
	const struct cell *cell = &t->cell[row * t->columns];
	unsigned k;

	if (coloured)
		printf("\033[%sm", t->colour[row]);
	for (k = 0; k < t->columns; k++) {
		size_t pad = t->width[k] - cell[k].width;
		bool last = k == t->columns - 1;
		printf("%s%*s%s%*s", k > 0 ? "  " : "", t->number[k] ? (int)pad : 0, "",
		       cell[k].text, t->number[k] || last ? 0 : (int)pad, "");
	}
	printf("%s\n", coloured ? "\033[m" : "");
}

void
table_print(struct table *t, const char *indent)
{
	size_t row;

	for (row = 0; row < t->rows; row++) {
		fputs(indent, stdout);
		print_row(t, row, t->colour[row][0] != '\0' && colours());
	}
}

size_t
table_rows(const struct table *t)
{
	return t->rows - 1;
}

void
table_free(struct table *t)
{
	size_t i;

	for (i = 0; i < t->rows * t->columns && i < t->filled; i++)
		free(t->cell[i].text);
	free(t->cell);
	free(t->colour);
	free(t);
}

bool
colours(void)
{
	const char *no = getenv("NO_COLOR");

	return (no == NULL || *no == '\0') && isatty(STDOUT_FILENO);
}

/* ---- single values ---- */

const char *
span(double seconds, bool raw, char room[32])
{
	if (!raw)
		return say_duration(seconds, room);
	snprintf(room, 32, "%.3f", seconds);
	return room;
}

const char *
size_text(uint64_t bytes, bool raw, char room[SIZE_TEXT])
{
	static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
	double n = (double)bytes / 1024;
	size_t i = 0;

	for (; n >= 999.5 && i < sizeof(units) / sizeof(units[0]) - 1; i++)
		n /= 1024;
	if (raw)
		snprintf(room, SIZE_TEXT, "%" PRIu64, bytes);
	else
		snprintf(room, SIZE_TEXT, "%.*f %s", i > 0 && n < 9.95 ? 1 : 0, n, units[i]);
	return room;
}

const char *
user_name(uid_t uid, bool raw, char room[USER_TEXT])
{
	if (!raw)
		return user_text(uid, room);
	snprintf(room, USER_TEXT, "%u", (unsigned)uid);
	return room;
}

/* These reverse the rest of a line. */
static bool
is_direction(wchar_t c)
{
	return c == 0x200e || c == 0x200f || (c >= 0x202a && c <= 0x202e) ||
	       (c >= 0x2066 && c <= 0x2069);
}

/*
 * By vis(3), which lets through bytes that are no characters, and characters that reverse the line.
 */
const char *
visible(const char *text, char *room, size_t size)
{
	mbstate_t state = { 0 };
	char *to = room, *end = room + size;
	wchar_t c;
	size_t n;

	for (; *text != '\0' && end - to > 4 * 4; text += n) {
		n = mbrtowc(&c, text, MB_CUR_MAX, &state);
		if (n != (size_t)-1 && n != (size_t)-2 && !is_direction(c)) {
			to += strvisx(to, text, n, VIS_CSTYLE | VIS_NL | VIS_TAB | VIS_NOSLASH);
			continue;
		}
		memset(&state, 0, sizeof(state));
		n = 1;
		to += snprintf(to, 5, "\\%03o", (unsigned char)*text);
	}
	*to = '\0';
	return room;
}

double
epoch_of(uint64_t monotonic_ns)
{
	static double boot; /* computed once, so that all times of one run agree */
	struct timespec real, mono;

	if (boot == 0) {
		clock_gettime(CLOCK_REALTIME, &real);
		clock_gettime(CLOCK_MONOTONIC, &mono);
		boot = (double)(real.tv_sec - mono.tv_sec) +
		       (double)(real.tv_nsec - mono.tv_nsec) / 1e9;
	}
	/* A time on another machine, before this one was booted, is below 0. */
	return boot + (double)(int64_t)monotonic_ns / 1e9;
}

const char *
time_of(uint64_t monotonic_ns, char room[40])
{
	double epoch = epoch_of(monotonic_ns);
	time_t seconds = (time_t)epoch;
	struct tm tm;
	size_t n;

	localtime_r(&seconds, &tm);
	n = strftime(room, 40, "%F %T", &tm);
	snprintf(room + n, 40 - n, ".%03d", (int)((epoch - (double)seconds) * 1e3));
	return room;
}

const char *
status_text(int status, char room[40])
{
	const char *late = status > 0 && (status & FLK_TIMED_OUT) ? "run timeout, " : "";

	if (status == FLK_UNKNOWN)
		return "status unknown";
	if (status == FLK_READY)
		return "ready, and runs on";
	status &= ~FLK_TIMED_OUT;
	if (WIFSIGNALED(status))
		snprintf(room, 40, "%ssignal %d (%s)", late, WTERMSIG(status),
			 sigabbrev_np(WTERMSIG(status)) != NULL ? sigabbrev_np(WTERMSIG(status))
								: "?");
	else
		snprintf(room, 40, "%sexit %d", late, WEXITSTATUS(status));
	return room;
}
