/* SPDX-License-Identifier: ISC */
/*
 * gantt.c - the history as a picture, on stdout or in a file.
 *
 * It is drawn into memory first: a program that reads the file finds the old picture or the new
 * one.
 */
#include "ctl.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/stat.h>

#include "chart.h"
#include "event.h"
#include "limiters.h"
#include "now.h"
#include "parse.h"
#include "picture.h"
#include "say.h"
#include "text.h"

/* ---- the file ---- */

static int
write_all(int fd, const char *data, size_t size)
{
	ssize_t n;

	while (size > 0) {
		n = write(fd, data, size);
		if (n == -1 && errno == EINTR)
			continue;
		if (n == -1)
			return -errno;
		data += n;
		size -= (size_t)n;
	}
	return 0;
}

static mode_t
usual_mode(void)
{
	mode_t mask = umask(0);

	umask(mask);
	return 0666 & ~mask;
}

/* Writes a new file, and renames it over the old one. */
static int
replace(const char *path, mode_t mode, const char *data, size_t size)
{
	char temporary[PATH_MAX];
	int fd, error;

	if (snprintf(temporary, sizeof(temporary), "%s.XXXXXX", path) >= PATH_MAX)
		return -ENAMETOOLONG;
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd == -1)
		return -errno;
	error = write_all(fd, data, size);
	if (error == 0 && fchmod(fd, mode) == -1)
		error = -errno;
	if (close(fd) == -1 && error == 0)
		error = -errno;
	if (error == 0 && rename(temporary, path) == -1)
		error = -errno;
	if (error != 0)
		unlink(temporary);
	return error;
}

static int
write_file(const char *path, const char *data, size_t size)
{
	char target[PATH_MAX];
	struct stat old;
	int fd, error;

	if (stat(path, &old) == -1)
		return errno == ENOENT ? replace(path, usual_mode(), data, size) : -errno;
	/* Replaces the target of a symbolic link, and not the link.  Writes to a device or pipe. */
	if (S_ISREG(old.st_mode))
		return realpath(path, target) != NULL
			   ? replace(target, old.st_mode & 07777, data, size)
			   : -errno;
	if ((fd = open(path, O_WRONLY | O_CLOEXEC)) == -1)
		return -errno;
	error = write_all(fd, data, size);
	close(fd);
	return error;
}

/* ---- the picture ---- */

static unsigned
terminal_width(bool on_terminal)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	uint64_t n;

	if (columns != NULL && parse_number(columns, 1, MOST_COLUMNS, &n))
		return (unsigned)n;
	if (on_terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
		return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
	return 80;
}

/* Where the pictures are drawn: stdout, or memory that deliver() writes to the file. */
struct sheet {
	FILE *out;
	char *data;
	size_t size;
	struct flk_event *event; /* FLK_HISTORY of them */
	bool any;
};

static void
draw(const struct ctl *c, const char *name, const struct lanes *l, struct sheet *sheet)
{
	bool on_terminal = c->output == NULL && isatty(STDOUT_FILENO);
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	if (sheet->any)
		fputc('\n', sheet->out);
	if (c->text)
		draw_text(sheet->out, l, name, terminal_width(on_terminal),
			  c->output == NULL && colours(), utf8);
	else
		draw_svg(sheet->out, l, name);
	sheet->any = true;
}

static int
draw_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct sheet *sheet = ctx;
	struct flk_snapshot *s;
	struct lanes l;
	uint64_t now;
	size_t n;
	int status = DONE, error = v->error;

	if (error == 0)
		error = flk_snapshot(v->f, &s);
	if (error != 0)
		return error;
	now = now_ns();
	n = events_since_boot(v->f, sheet->event);
	if ((error = chart_make(&l, sheet->event, n, s, now)) != 0) {
		free(s);
		return error;
	}
	if (l.turns == 0 && !c->all) {
		say(v->name, "nothing to draw: nobody has held it or waited for it yet");
		status = NO;
	} else if (l.turns > 0) {
		draw(c, v->name, &l, sheet);
	}
	chart_free(&l);
	free(s);
	return status;
}

/* Writes the file, unless nothing was drawn. */
static int
deliver(const struct ctl *c, struct sheet *sheet)
{
	int error = fclose(sheet->out) == 0 ? 0 : -ENOMEM;

	if (error == 0 && sheet->any)
		error = write_file(c->output, sheet->data, sheet->size);
	free(sheet->data);
	if (error == 0)
		return DONE;
	say(NULL, "-o '%s': %s", c->output, strerror(-error));
	return FAILED;
}

static bool
can_draw(const struct ctl *c)
{
	if (!is_named(c))
		return false;
	if (is_many(c) && !c->text) {
		say(NULL, "gantt: an SVG is of one limiter: name one, or use --text");
		return false;
	}
	if (!c->text && c->output == NULL && isatty(STDOUT_FILENO)) {
		say(NULL, "gantt: no SVG is written to a terminal: use -o FILE.svg, or --text");
		return false;
	}
	return true;
}

int
gantt(const struct ctl *c)
{
	struct sheet sheet = { .out = stdout };
	int status, delivered;

	if (!can_draw(c))
		return FAILED;
	sheet.event = calloc(FLK_HISTORY, sizeof(*sheet.event));
	if (c->output != NULL)
		sheet.out = open_memstream(&sheet.data, &sheet.size);
	if (sheet.event == NULL || sheet.out == NULL) {
		say(NULL, "no memory");
		free(sheet.event);
		return FAILED;
	}
	status = for_each(c, draw_one, &sheet);
	if (status == DONE && !sheet.any) { /* --all */
		say(NULL, "nothing to draw: no limiter has been held or waited for yet");
		status = NO;
	}
	delivered = c->output != NULL ? deliver(c, &sheet) : DONE;
	free(sheet.event);
	return delivered > status ? delivered : status;
}
