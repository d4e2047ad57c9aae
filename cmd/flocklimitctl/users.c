/* SPDX-License-Identifier: ISC */
/*
 * users.c - see users.h.
 *
 * Such a limiter is known by its path, as two users may have one of the same name.  Whether we may read
 * it is the kernel's affair: mostly only root may.
 */
#include "users.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ctl.h"
#include "kind.h"
#include "name.h"
#include "own.h"
#include "parse.h"
#include "say.h"

/* A user's name, or number. */
static bool
find_user(const char *word, uid_t *uid)
{
	struct passwd *user =
	    getpwnam(word); /* NOLINT(concurrency-mt-unsafe): there is one thread */
	uint64_t n;

	if (user != NULL)
		*uid = user->pw_uid;
	else if (parse_number(word, 0, UINT32_MAX, &n))
		*uid = (uid_t)n;
	else
		return false;
	return true;
}

/* ---- one ---- */

struct wanted {
	uid_t uid;
	char *dir;
};

/* The first is the one that the user's own processes find. */
static void
take_dir(void *wanted, uid_t uid, const char *dir)
{
	struct wanted *w = wanted;

	if (uid == w->uid && w->dir == NULL)
		w->dir = strdup(dir);
}

int
users_find(struct ctl *c)
{
	struct wanted w = { .dir = NULL };

	if (c->user == NULL && !c->users)
		return -1;
	if (!here.is_file) {
		say(NULL, "--user%s: a store is not kept by users", c->users ? "s" : "");
		return FAILED;
	}
	if (c->user == NULL)
		return -1;
	if (c->users || c->files > 0) {
		say(NULL, "--user %s: use it without %s", c->user,
		    c->users ? "--users" : "--file, which needs no user");
		return FAILED;
	}
	if (!find_user(c->user, &w.uid)) {
		say(NULL, "--user '%s': there is no such user", c->user);
		return FAILED;
	}
	flki_directories(take_dir, &w);
	if (w.dir == NULL) {
		say(NULL, "--user %s: that user has no limiter directory", c->user);
		return NO;
	}
	c->user_dir = w.dir;
	return -1;
}

bool
users_are_others(const struct ctl *c)
{
	return c->users || c->user != NULL;
}

/* ---- all of them ---- */

struct found {
	struct one {
		uid_t uid;
		char path[PATH_MAX];
	} * dir;
	size_t n;
};

/* For want of memory, some are not listed. */
static void
add_dir(void *found, uid_t uid, const char *dir)
{
	struct found *f = found;
	struct one *more = realloc(f->dir, (f->n + 1) * sizeof(*more));

	if (more == NULL)
		return;
	f->dir = more;
	more += f->n++;
	more->uid = uid;
	snprintf(more->path, sizeof(more->path), "%s", dir);
}

/* By users; a user's own in the order in which they were found. */
static int
by_user(const void *a, const void *b)
{
	const struct one *x = a, *y = b;
	int by_uid = (x->uid > y->uid) - (x->uid < y->uid);

	return by_uid != 0 ? by_uid : strcmp(x->path, y->path);
}

static int
is_name(const struct dirent *entry)
{
	return flki_is_name(entry->d_name);
}

static int
visit_dir(const struct ctl *c, const char *dir, each_limiter *each, void *ctx)
{
	int n, i, s, error, status = DONE;
	struct dirent **entry;
	char path[PATH_MAX];

	n = scandir(dir, &entry, is_name, alphasort);
	if (n == -1 && errno == ENOENT)
		return DONE;
	if (n == -1) {
		error = errno;
		if (!c->quiet)
			say(NULL, "%s: %s%s", dir, strerror(error),
			    error == EACCES ? ": that user and root may look" : "");
		return error == EACCES && c->users ? DONE : FAILED;
	}
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		free(entry[i]);
		s = visit(c, path, path, each, ctx);
		status = s > status ? s : status;
	}
	free(entry);
	return status;
}

int
users_visit(const struct ctl *c, each_limiter *each, void *ctx)
{
	struct found f = { .n = 0 };
	int s, status = DONE;
	size_t i;

	if (c->user_dir != NULL)
		return visit_dir(c, c->user_dir, each, ctx);
	flki_directories(add_dir, &f);
	if (f.n > 0)
		qsort(f.dir, f.n, sizeof(*f.dir), by_user);
	for (i = 0; i < f.n; i++) {
		s = visit_dir(c, f.dir[i].path, each, ctx);
		status = s > status ? s : status;
	}
	free(f.dir);
	return status;
}
