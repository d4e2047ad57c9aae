/* SPDX-License-Identifier: ISC */
#include "say.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "flocklimit.h"
#include "now.h"
#include "process.h"
#include "signals.h"
#include "user.h"

#define LINE        1200
#define LABEL       80 /* bytes of a limiter's name */
#define LABEL_WIDTH 30
#define LINE_MS     500

const char *say_program = "flocklimit", *say_where, *say_tail;

/* Bytes of the UTF-8 character that begins here; 1 if none does. */
static size_t
length(const unsigned char *p)
{
	size_t n = *p >= 0xf0 ? 4 : *p >= 0xe0 ? 3 : *p >= 0xc2 ? 2 : 1, i;

	for (i = 1; i < n; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 1;
	return n;
}

/* A control character (C0, C1, DEL), which a terminal would obey; or one that reverses the line. */
static bool
is_wild(const unsigned char *p, size_t n)
{
	if (n == 1)
		return *p < 0x20 || (*p >= 0x7f && *p < 0xa0);
	if (n == 2)
		return *p == 0xc2 && p[1] < 0xa0;
	return n == 3 && *p == 0xe2 &&
	       ((p[1] == 0x80 &&
		 (p[2] == 0x8e || p[2] == 0x8f || (p[2] >= 0xaa && p[2] <= 0xae))) ||
		(p[1] == 0x81 && p[2] >= 0xa6 && p[2] <= 0xa9));
}

/* Replaces such characters by '?'.  Bytes that are not UTF-8 stay. */
static void
tame(char *text)
{
	unsigned char *p = (unsigned char *)text;
	size_t n;

	for (; *p != '\0'; p += n) {
		n = length(p);
		if (is_wild(p, n))
			memset(p, '?', n);
	}
}

/* A character takes at most as many columns as bytes. */
void
say_cut(char *text, size_t most)
{
	const char *dots = most >= 3 ? "..." : "";
	size_t end = most - strlen(dots);

	if (strlen(text) <= most)
		return;
	while (end > 0 && ((unsigned char)text[end] & 0xc0) == 0x80)
		end--;
	memcpy(text + end, dots, strlen(dots) + 1);
}

/* A terminal that was stopped, by ^S say, takes nothing: a wait for it would be longer than any deadline. */
static bool
takes_within(int ms)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };

	return !isatty(STDERR_FILENO) || poll(&out, 1, ms) != 0;
}

static void
put(const char *text, size_t size)
{
	/* If stderr itself fails, there is no other way to say so. */
	if (write(STDERR_FILENO, text, size) == -1 && errno == EPIPE)
		signals_forget_pipe();
}

/* Writes the line without its newline; returns its length. */
static size_t
compose(char line[LINE], const char *limiter, const char *format, va_list ap)
{
	size_t n, room = LINE - 2;

	if (say_where != NULL)
		limiter = say_where;
	n = (size_t)snprintf(line, room, "%s: %s%s", say_program, limiter != NULL ? limiter : "",
			     limiter != NULL ? ": " : "");
	if (n < room)
		vsnprintf(line + n, room - n, format, ap);
	n = strlen(line);
	if (say_tail != NULL)
		snprintf(line + n, room - n, "%s", say_tail);
	tame(line);
	return strlen(line);
}

void
say(const char *limiter, const char *format, ...)
{
	char line[LINE];
	va_list ap;
	size_t n;

	va_start(ap, format);
	n = compose(line, limiter, format, ap);
	va_end(ap);
	line[n++] = '\n';
	if (takes_within(LINE_MS))
		put(line, n);
}

/* False as well for a terminal that is not our controlling one: tcgetpgrp() fails there. */
static bool
is_in_background(void)
{
	pid_t foreground = tcgetpgrp(STDERR_FILENO);

	return foreground != -1 && foreground != getpgrp();
}

bool
say_has_terminal(void)
{
	return isatty(STDERR_FILENO) && !is_in_background();
}

static size_t
terminal_width(void)
{
	struct winsize size;
	size_t width = 79;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1)
		width = size.ws_col - 1u;
	return width < LINE - 100 ? width : LINE - 100;
}

/* The limiter's name in a status line: the last component of a path; a long name is cut. */
static void
say_label(const char *limiter, char label[LABEL])
{
	const char *slash = strrchr(limiter, '/');

	snprintf(label, LABEL, "%s", slash != NULL && slash[1] != '\0' ? slash + 1 : limiter);
	say_cut(label, LABEL_WIDTH);
}

size_t
say_status_width(const char *limiter)
{
	size_t width = terminal_width(), used;
	char label[LABEL];

	say_label(limiter, label);
	used = strlen(label) + 2;
	return width > used ? width - used : 0;
}

void
say_status(const char *limiter, const char *text)
{
	char line[LINE + 16], label[LABEL];
	int n;

	if (is_in_background() || !takes_within(0))
		return;
	if (*text == '\0') {
		put("\r\033[K", 4);
		return;
	}
	say_label(limiter, label);
	n = snprintf(line, LINE, "%s: %s", label, text);
	if (n < 0)
		return;
	tame(line);
	say_cut(line, terminal_width());
	memmove(line + 4, line, strlen(line) + 1);
	/* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the rest of the line comes behind */
	memcpy(line, "\r\033[K", 4);
	put(line, strlen(line));
}

const char *
say_foreign_dir(const char *path, char room[FOREIGN_TEXT])
{
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX], name[USER_TEXT], owner[USER_TEXT + 5] = "another user";
	struct stat sb;

	snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - path) : 0, path);
	if (lstat(dir, &sb) == 0)
		snprintf(owner, sizeof(owner), "user %s", user_text(sb.st_uid, name));
	snprintf(room, FOREIGN_TEXT,
		 "%s belongs to %s: ask the operator to remove it, or choose another directory "
		 "with FLOCKLIMIT_DIR",
		 dir, owner);
	return room;
}

const char *
say_duration(double s, char room[32])
{
	if (s < 0)
		s = 0;
	if (s < 0.9995)
		snprintf(room, 32, "%.0f ms", s * 1e3);
	else if (s < 9.95)
		snprintf(room, 32, "%.3g s", s);
	else if (s < 120)
		snprintf(room, 32, "%.0f s", s);
	else if (s < 7200)
		snprintf(room, 32, "%.0f min", s / 60);
	else if (s < 172800)
		snprintf(room, 32, "%.0f h %.0f min", (double)(long)(s / 3600),
			 (double)((long)(s / 60) % 60));
	else
		snprintf(room, 32, "%.0f d %.0f h", (double)(long)(s / 86400),
			 (double)((long)(s / 3600) % 24));
	return room;
}
