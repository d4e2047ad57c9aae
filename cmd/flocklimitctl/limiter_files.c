/* SPDX-License-Identifier: ISC */
/*
 * limiter_files.c - what an operator asks of limiters that are files of this machine.
 */
#include "limiter_files.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain.h"
#include "own.h"
#include "say.h"

/* gcc 12 loses sight of what the array keeps. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-malloc-leak"
#endif

static char trouble[FOREIGN_TEXT];

static int
is_limiter_name(const struct dirent *entry)
{
	char path[PATH_MAX];

	return flk_locate(entry->d_name, path, sizeof(path)) == 0;
}

/*
 * Whether the library refuses the directory: we open a limiter in it to find out.  So we do not
 * list a directory of another user.
 */
static bool
is_refused(const char *path, int *error)
{
	static const struct flk_options existing = { .existing = true };
	struct flk *f;

	*error = flk_attach(&f, "x", &existing);
	if (*error == 0)
		flk_detach(f);
	if (*error != -FLK_FOREIGNDIR && *error != -FLK_BADDIR)
		return false;
	if (*error == -FLK_FOREIGNDIR)
		say_foreign_dir(path, trouble);
	else
		snprintf(trouble, sizeof(trouble), "%s: %s", path, explain(*error));
	return true;
}

static int
names(char ***name, size_t *n)
{
	struct dirent **entry;
	char dir[PATH_MAX];
	int found, i, error = flk_locate("x", dir, sizeof(dir));

	*name = NULL;
	*n = 0;
	if (error != 0) {
		snprintf(trouble, sizeof(trouble), "%s%s",
			 error == -ENAMETOOLONG ? "FLOCKLIMIT_DIR: " : "", explain(error));
		return error;
	}
	if (is_refused(dir, &error))
		return error;
	*strrchr(dir, '/') = '\0';
	found = scandir(dir[0] != '\0' ? dir : "/", &entry, is_limiter_name, alphasort);
	if (found == -1 && errno == ENOENT)
		return 0;
	if (found == -1) {
		error = -errno;
		snprintf(trouble, sizeof(trouble), "%s: %s", dir, strerror(-error));
		errno = -error;
		return error;
	}
	*name = calloc((size_t)found + 1, sizeof(**name));
	for (i = 0; i < found; i++) {
		if (*name != NULL && ((*name)[*n] = strdup(entry[i]->d_name)) != NULL)
			(*n)++;
		free(entry[i]);
	}
	free(entry);
	if (*n == (size_t)found && *name != NULL)
		return 0;
	kind_forget(*name, *n);
	snprintf(trouble, sizeof(trouble), "%s", strerror(ENOMEM));
	return -ENOMEM;
}

static const char *
why_not(void)
{
	return trouble;
}

/*
 * We ask the kernel, because the file proves nothing: a pid of another PID namespace is another
 * process here, and a process that can write the file may have written any pid.
 */
static int
belongs(struct flk *f, const struct flk_entry *e, pid_t pid)
{
	(void)pid;
	return flki_is_taker(f, e->slot, e->pid);
}

/* The taker has written the pid into its slot. */
static bool
works(const struct flk_entry *e, pid_t pid)
{
	return (pid_t)e->worker == pid;
}

const struct operating operating_files = { .names = names,
					   .trouble = why_not,
					   .belongs = belongs,
					   .works = works,
					   .discard = flk_discard,
					   .order = flk_order,
					   .orders = flk_orders };
