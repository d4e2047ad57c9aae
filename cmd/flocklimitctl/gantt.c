/*
 * gantt.c - the history as a picture, on stdout or in a file.
 *
 * It is drawn into memory first: who looks at the file sees the old picture or the new one.
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

#include "lanes.h"
#include "now.h"
#include "parse.h"
#include "picture.h"
#include "say.h"
#include "text.h"
#include "where.h"

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

/* Into a new file that then takes the old one's place. */
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
	/* What a symbolic link leads to is replaced, not the link; and no device or pipe. */
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

static void
draw(const struct ctl *c, const struct lanes *l, FILE *out)
{
	bool on_terminal = c->output == NULL && isatty(STDOUT_FILENO);
	bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;

	if (c->text)
		draw_text(out, l, name_of(c), terminal_width(on_terminal),
			  c->output == NULL && colours(), utf8);
	else
		draw_svg(out, l, name_of(c));
}

static int
deliver(const struct ctl *c, const struct lanes *l)
{
	char *data = NULL;
	size_t size;
	FILE *out;
	int error;

	if (c->output == NULL) {
		draw(c, l, stdout);
		return DONE;
	}
	if ((out = open_memstream(&data, &size)) == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	draw(c, l, out);
	error = fclose(out) == 0 ? write_file(c->output, data, size) : -ENOMEM;
	free(data);
	if (error == 0)
		return DONE;
	say(NULL, "-o '%s': %s", c->output, strerror(-error));
	return FAILED;
}

static int
picture_of(const struct ctl *c, struct flk *f, struct flk_event *event)
{
	struct flk_snapshot *s;
	struct lanes l;
	uint64_t now;
	size_t n;
	int error, status;

	if ((error = flk_snapshot(f, &s)) != 0)
		return refuse(name_of(c), flk_path(f), f, error);
	now = now_ns();
	n = flk_history(f, 0, event, FLK_HISTORY);
	if ((error = lanes_make(&l, event, n, s, now)) != 0) {
		status = refuse(name_of(c), flk_path(f), f, error);
	} else if (l.turns == 0) {
		say(name_of(c), "nothing to draw: nobody has held it or waited for it yet");
		status = NO;
	} else {
		status = deliver(c, &l);
	}
	if (error == 0)
		lanes_free(&l);
	free(s);
	return status;
}

int
gantt(const struct ctl *c)
{
	struct flk_event *event = calloc(FLK_HISTORY, sizeof(*event));
	struct flk *f;
	int status;

	if (where_is_store()) {
		say(NULL, "gantt: a store keeps no history that could be drawn");
		free(event);
		return FAILED;
	}
	if (event == NULL) {
		say(NULL, "no memory");
		return FAILED;
	}
	if ((f = open_only(c, &status)) != NULL) {
		status = picture_of(c, f, event);
		flk_detach(f);
	}
	free(event);
	return status;
}
