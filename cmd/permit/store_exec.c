/* SPDX-License-Identifier: ISC */
#include "store_exec.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/auxv.h>
#include <sys/stat.h>

#include "option.h"
#include "say.h"
#include "taker_options.h"

#define LETTERS "abcdefghijklmnopqrstuvwxyz0123456789" /* of a scheme */
#define PROGRAM "store-"
#define WRAPPER "flocklimit-wrapper"

/* The part of a URL before the first '+' or ':'; false: it is not a URL. */
static bool
scheme_of(const char *url, char scheme[32])
{
	size_t n = strspn(url, LETTERS);

	if (n == 0 || n >= 32 || strchr("+:", url[n]) == NULL || strstr(url, "://") == NULL)
		return false;
	memcpy(scheme, url, n);
	scheme[n] = '\0';
	return true;
}

/* Every user of the machine can read the words of a command line. */
static bool
has_password(const char *url)
{
	const char *user = strstr(url, "://") + 3, *at = strchr(user, '@');
	const char *colon = strchr(user, ':');

	return at != NULL && at < user + strcspn(user, "/?") && colon != NULL && colon < at;
}

static int
only_for_stores(const struct given *given)
{
	unsigned i;

	for (i = 0; i < given->n; i++) {
		if (!given->row[i]->only_in_store)
			continue;
		say(NULL, "--%s is for limiters of a store: use it with --store",
		    given->row[i]->name);
		return OPTION_BAD;
	}
	return -1;
}

/* The store's URL: --store or, where no file is named, $FLOCKLIMIT_STORE; NULL: this machine. */
static const char *
url_of(const struct taker_options *w)
{
	const char *url = w->store.url;

	/*
	 * An empty --store, from an unset variable say, must not silently limit this machine only.
	 */
	if (url != NULL)
		return url;
	url = w->file == NULL ? getenv("FLOCKLIMIT_STORE") : NULL;
	return url != NULL && *url != '\0' ? url : NULL;
}

/*
 * The directory of this program, which may be a build tree: TREE, where the program is
 * TREE/flocklimit or TREE/.libs/flocklimit.
 */
static bool
tree_of(char tree[PATH_MAX])
{
	ssize_t n = readlink("/proc/self/exe", tree, PATH_MAX);
	char *slash;

	if (n <= 0 || n >= PATH_MAX)
		return false;
	tree[n] = '\0';
	if ((slash = strrchr(tree, '/')) == NULL)
		return false;
	*slash = '\0';
	if ((slash = strrchr(tree, '/')) != NULL && strcmp(slash, "/.libs") == 0)
		*slash = '\0';
	return true;
}

/*
 * Whether only the owner of this program can have made or changed that file.  If this program is in
 * a directory where others may write, such as /tmp, it must not run what another user has put
 * beside it.  A group may have write permission if it may also write this program.
 */
static bool
is_as_good_as(const char *path, const struct stat *self, mode_t type)
{
	struct stat st;

	return lstat(path, &st) == 0 && (st.st_mode & S_IFMT) == type &&
	       st.st_uid == self->st_uid && (st.st_mode & S_IWOTH) == 0 &&
	       ((st.st_mode & S_IWGRP) == 0 ||
		((self->st_mode & S_IWGRP) != 0 && st.st_gid == self->st_gid));
}

/* If this program, self, is in a build tree: the folder of that tree's stores.  False: it is not. */
static bool
folder_in_tree(char tree[PATH_MAX], struct stat *self)
{
	static const char *const folders[] = { "/cmd", "/store" };
	size_t n, i;

	/*
	 * As secure_getenv(3): with more rights than the caller has, we run only what is installed.
	 */
	if (getauxval(AT_SECURE) != 0 || stat("/proc/self/exe", self) == -1 || !tree_of(tree))
		return false;
	n = strlen(tree);
	for (i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		if (n + strlen(folders[i]) >= PATH_MAX)
			return false;
		memcpy(tree + n, folders[i], strlen(folders[i]) + 1);
		n += strlen(folders[i]);
		if (!is_as_good_as(tree, self, S_IFDIR))
			return false;
	}
	return true;
}

static bool
find_in_tree(char path[PATH_MAX], const char *scheme)
{
	struct stat self;
	char tree[PATH_MAX];

	return folder_in_tree(tree, &self) &&
	       (size_t)snprintf(path, PATH_MAX, "%s/" PROGRAM "%s", tree, scheme) < PATH_MAX &&
	       is_as_good_as(path, &self, S_IFREG);
}

/* ---- which stores there are ---- */

#define STORES 200 /* bytes of a list of stores */

static int
is_store(const struct dirent *e)
{
	const char *scheme = e->d_name + strlen(PROGRAM);

	return strncmp(e->d_name, PROGRAM, strlen(PROGRAM)) == 0 && *scheme != '\0' &&
	       scheme[strspn(scheme, LETTERS)] == '\0';
}

static bool
can_run(const char *dir, const char *file)
{
	char path[PATH_MAX];
	struct stat st;

	return (size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) < sizeof(path) &&
	       stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

/* The stores whose programs are in that directory, as "abc://, etcd://"; "": none but that one. */
static const char *
stores_in(const char *dir, const char *but, char text[STORES])
{
	struct dirent **entry;
	int n = scandir(dir, &entry, is_store, alphasort), i;
	size_t used = 0;

	text[0] = '\0';
	for (i = 0; i < n; i++) {
		const char *scheme = entry[i]->d_name + strlen(PROGRAM);

		if (used < STORES && strcmp(scheme, but) != 0 && can_run(dir, entry[i]->d_name))
			used += (size_t)snprintf(text + used, STORES - used, "%s%s://",
						 used > 0 ? ", " : "", scheme);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return text;
}

/* dir: FLOCKLIMIT_LIBEXEC, if it is set; else the directory of the installation. */
static void
say_none(const char *scheme, const char *dir, const char *path, bool named)
{
	char tree[PATH_MAX], text[STORES];
	struct stat self;

	if (strncmp(scheme, "http", 4) == 0) {
		say(NULL, "%s:// is not a store: for etcd use etcd://, or with TLS etcd+https://",
		    scheme);
		return;
	}
	if (!named && folder_in_tree(tree, &self))
		dir = tree;
	if (*stores_in(dir, scheme, text) != '\0')
		say(NULL, "no store %s:// is installed: %s has %s", scheme, dir, text);
	else
		say(NULL,
		    "no store %s:// is installed: there is no %s: %s FLOCKLIMIT_LIBEXEC to "
		    "the directory that has it",
		    scheme, path, named ? "correct" : "set");
}

/* For flocklimit there is a smaller program beside the store's, which runs that one where it must. */
static void
exec_wrapper(const char *program, bool in_tree, char **argv)
{
	struct stat self;
	char path[PATH_MAX + sizeof(WRAPPER)];
	const char *name = strrchr(argv[0], '/'), *slash = strrchr(program, '/');

	if (strcmp(name != NULL ? name + 1 : argv[0], "flocklimit") != 0 || slash == NULL ||
	    access(program, X_OK) == -1)
		return;
	snprintf(path, sizeof(path), "%.*s/" WRAPPER, (int)(slash - program), program);
	if (!in_tree || (stat("/proc/self/exe", &self) == 0 && is_as_good_as(path, &self, S_IFREG)))
		execv(path, argv);
}

int
store_exec(const struct taker_options *w, char **argv)
{
	const char *url = url_of(w), *dir = secure_getenv("FLOCKLIMIT_LIBEXEC");
	char scheme[32], path[PATH_MAX];
	bool named, in_tree;

	if (url == NULL)
		return only_for_stores(&w->given);
	if (w->store.url != NULL && w->file != NULL) {
		say(NULL, "--store and --file cannot be combined: use one of them");
		return OPTION_BAD;
	}
	if (!scheme_of(url, scheme)) {
		say(NULL, "%s is no URL: use SCHEME://HOST[:PORT]/PATH, as etcd://db1:2379/team",
		    w->store.url != NULL ? "--store" : "FLOCKLIMIT_STORE");
		return OPTION_BAD;
	}
	if (w->store.url != NULL && has_password(url)) {
		say(NULL, "--store: everybody can see a password there: put it into "
			  "$FLOCKLIMIT_STORE_PASSWORD or a file");
		return OPTION_BAD;
	}
	named = dir != NULL && *dir != '\0';
	if (!named)
		dir = PKGLIBEXECDIR;
	in_tree = !named && find_in_tree(path, scheme);
	if (!in_tree &&
	    (size_t)snprintf(path, sizeof(path), "%s/" PROGRAM "%s", dir, scheme) >= sizeof(path)) {
		say(NULL, "FLOCKLIMIT_LIBEXEC is too long for a path");
		return OPTION_BAD;
	}
	exec_wrapper(path, in_tree, argv);
	execv(path, argv);
	if (errno == ENOENT)
		say_none(scheme, dir, path, named);
	else
		say(NULL, "cannot run '%s': %s", path, strerror(errno));
	return OPTION_BAD;
}
