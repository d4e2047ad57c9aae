/*
 * open.c - from words to limiters.  Nothing is ever made by looking.
 */
#include "ctl.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

static const struct flk_options existing = { .existing = true };

int
refuse(const char *name, const char *path, struct flk *f, int code)
{
	switch (-code) {
	case ENOENT:
		say(name, "there is no such limiter (%s): flocklimitctl list shows those there are",
		    path);
		return NO;
	case FLK_DAMAGED:
		say(name,
		    "%s: it is damaged: flocklimitctl check tells how, and check --repair mends it",
		    path);
		return FAILED;
	case FLK_STUCK:
		say_stuck(name, f != NULL ? flk_stuck_pid(f) : 0);
		return FAILED;
	case FLK_GONE:
		say(name, "%s: it was removed", path);
		return NO;
	default:
		say(name, "%s: %s", path, flk_strerror(code));
		return FAILED;
	}
}

const char *
name_of(const struct ctl *c)
{
	return c->files > 0 ? c->file[0] : c->word[0];
}

/* flk_attach takes what has a slash for a path. */
static const char *
as_path(const char *file, char path[PATH_MAX])
{
	if (strchr(file, '/') != NULL)
		return file;
	snprintf(path, PATH_MAX, "./%s", file);
	return path;
}

static const struct flk_options *
how(const struct ctl *c)
{
	static const struct flk_options damaged = { .existing = true, .damaged = true };

	return c->even_damaged ? &damaged : &existing;
}

struct flk *
open_named(const struct ctl *c, char ***rest, int *rests, int *status)
{
	char room[PATH_MAX], path[PATH_MAX];
	bool by_file = c->files > 0;
	struct flk *f = NULL;
	const char *name;
	int error;

	*status = FAILED;
	if (c->files > 1) {
		say(NULL, "--file: one limiter only, please");
		return NULL;
	}
	if (!by_file && c->words == 0) {
		say(NULL, "which limiter? NAME, or --file PATH: see --help");
		return NULL;
	}
	name = by_file ? as_path(c->file[0], room) : c->word[0];
	*rest = c->word + !by_file;
	*rests = c->words - !by_file;
	if (!by_file && strchr(name, '/') != NULL) {
		say(NULL, "'%s': not a limiter's name; for a path: --file", name);
		return NULL;
	}
	error = flk_attach(&f, name, how(c));
	if (error == -FLK_BADNAME) {
		say(NULL, "'%s': %s", name, flk_strerror(error));
	} else if (error != 0) {
		if (flk_locate(name, path, sizeof(path)) != 0)
			snprintf(path, sizeof(path), "%s", name);
		*status = refuse(name_of(c), path, NULL, error);
	}
	return f;
}

struct flk *
open_only(const struct ctl *c, int *status)
{
	int named = c->files > 0 ? 0 : 1, rests;
	char **rest;

	if (c->words > named) {
		say(NULL, "'%s': one limiter only, please", c->word[named]);
		*status = FAILED;
		return NULL;
	}
	return open_named(c, &rest, &rests, status);
}

/* ---- many ---- */

static int
visit(const struct ctl *c, const char *name, const char *shown, each_limiter *each, void *ctx)
{
	char path[PATH_MAX];
	struct flk *f = NULL;
	int error = flk_attach(&f, name, how(c)), status;

	if (flk_locate(name, path, sizeof(path)) != 0)
		snprintf(path, sizeof(path), "%s", name);
	status = each(c, shown, path, f, error, ctx);
	flk_detach(f);
	return status;
}

static int
is_limiter_name(const struct dirent *entry)
{
	char path[PATH_MAX];

	return flk_locate(entry->d_name, path, sizeof(path)) == 0;
}

static int
visit_directory(const struct ctl *c, each_limiter *each, void *ctx)
{
	struct dirent **entry;
	char dir[PATH_MAX];
	int n, i, s, status = DONE;

	if (flk_locate("x", dir, sizeof(dir)) != 0)
		return FAILED;
	*strrchr(dir, '/') = '\0';
	n = scandir(dir[0] != '\0' ? dir : "/", &entry, is_limiter_name, alphasort);
	if (n == -1 && errno == ENOENT)
		return DONE;
	if (n == -1) {
		say(NULL, "%s: %s", dir, strerror(errno));
		return FAILED;
	}
	for (i = 0; i < n; i++) {
		s = visit(c, entry[i]->d_name, entry[i]->d_name, each, ctx);
		status = s > status ? s : status;
		free(entry[i]);
	}
	free(entry);
	return status;
}

int
for_each(const struct ctl *c, each_limiter *each, void *ctx)
{
	char room[PATH_MAX];
	int i, s, status = DONE;

	if (c->files == 0 && c->words == 0)
		return visit_directory(c, each, ctx);
	for (i = 0; i < c->words; i++) {
		s = visit(c, c->word[i], c->word[i], each, ctx);
		status = s > status ? s : status;
	}
	for (i = 0; i < c->files; i++) {
		s = visit(c, as_path(c->file[i], room), c->file[i], each, ctx);
		status = s > status ? s : status;
	}
	return status;
}
