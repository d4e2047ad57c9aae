/* SPDX-License-Identifier: ISC */
#include "results.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "option.h"
#include "say.h"
#include "screen.h"
#include "template.h"

static const char *path; /* of the directory; NULL: no results are kept */
static int dir = -1;

int
results_open(const struct options *o)
{
	path = o->results;
	if (path == NULL)
		return OPTION_OK;
	if (mkdir(path, 0777) == -1 && errno != EEXIST)
		dir = -1;
	else
		dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir != -1 && faccessat(dir, ".", W_OK | X_OK, AT_EACCESS) == 0)
		return OPTION_OK;
	say(NULL, "--results %s: %s", path, strerror(errno));
	return OPTION_BAD;
}

/* The text, or what was captured. */
static int
write_file(int at, const char *name, const char *text, const struct capture *c)
{
	int fd = openat(at, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666), error = 0;

	if (fd == -1)
		return -errno;
	if (c != NULL)
		error = capture_copy(c, fd);
	else if (dprintf(fd, "%s\n", text) < 0)
		error = -errno;
	if (close(fd) == -1 && error == 0)
		error = -errno;
	return error;
}

/* A status of an earlier run must not stand beside what this one printed: it goes first, and comes last. */
static int
write_files(int at, const struct job *j, const char **name)
{
	char *command = template_quote(j->argv), status[16];
	int error;

	*name = "command";
	error = command == NULL ? -ENOMEM : 0;
	if (error == 0 && unlinkat(at, "status", 0) == -1 && errno != ENOENT)
		error = -errno;
	if (error == 0)
		error = write_file(at, *name, command, NULL);
	free(command);
	if (error == 0)
		error = write_file(at, *name = "stdout", NULL, &j->out);
	if (error == 0)
		error = write_file(at, *name = "stderr", NULL, &j->err);
	snprintf(status, sizeof(status), "%d", job_exit(j));
	return error != 0 ? error : write_file(at, *name = "status", status, NULL);
}

int
results_add(const struct job *j)
{
	const char *name = "";
	char number[24];
	int at = -1, error = 0;

	if (path == NULL)
		return 0;
	snprintf(number, sizeof(number), "%llu", (unsigned long long)j->number);
	if ((mkdirat(dir, number, 0777) == -1 && errno != EEXIST) ||
	    (at = openat(dir, number, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) == -1)
		error = -errno;
	else
		error = write_files(at, j, &name);
	if (at != -1)
		close(at);
	if (error != 0)
		screen_say(NULL, "--results %s/%s/%s: %s", path, number, name, strerror(-error));
	return error != 0 ? -1 : 0;
}
