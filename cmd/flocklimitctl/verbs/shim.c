/* SPDX-License-Identifier: ISC */
/*
 * shim.c - the verb shim: links to flocklimit that are named as programs, and stand before them in PATH.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "ctl.h"
#include "find_program.h"
#include "limits_apply.h"
#include "limits_text.h"
#include "say.h"

#define OWN_NAME "flocklimit"

static char program[PATH_MAX]; /* to which the links lead */
static struct stat program_stat;

/* ---- our program ---- */

static int
take_path(const char *path, const void *context)
{
	(void)context;
	if (stat(path, &program_stat) == -1)
		return errno;
	if (!S_ISREG(program_stat.st_mode) || access(path, X_OK) == -1)
		return EACCES;
	snprintf(program, sizeof(program), "%s", path);
	return 0;
}

/* The one beside this program, or else in PATH. */
static int
find_flocklimit(void)
{
	char path[PATH_MAX + sizeof(OWN_NAME)];
	ssize_t n = readlink("/proc/self/exe", path, PATH_MAX);
	char *slash;

	if (n > 0 && n < PATH_MAX) {
		path[n] = '\0';
		if ((slash = strrchr(path, '/')) != NULL) {
			memcpy(slash + 1, OWN_NAME, sizeof(OWN_NAME));
			if (take_path(path, NULL) == 0)
				return DONE;
		}
	}
	if (find_program(OWN_NAME, take_path, NULL) == 0 && program[0] == '/')
		return DONE;
	say(NULL, "shim: flocklimit is neither beside this program nor in PATH: install it");
	return FAILED;
}

static bool
is_ours(const struct stat *sb)
{
	return sb->st_dev == program_stat.st_dev && sb->st_ino == program_stat.st_ino;
}

/* A link to this flocklimit, or to another one. */
static bool
is_shim(const char *path)
{
	char target[PATH_MAX];
	struct stat sb;
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	const char *slash;

	if (n == -1)
		return false;
	target[n] = '\0';
	slash = strrchr(target, '/');
	return strcmp(slash != NULL ? slash + 1 : target, OWN_NAME) == 0 ||
	       (stat(path, &sb) == 0 && is_ours(&sb));
}

/* ---- what stands in PATH ---- */

struct search {
	struct stat dir;     /* of the shims */
	bool has_dir;        /* it is in PATH */
	char real[PATH_MAX]; /* the first of that name that is no shim; "": none */
	bool comes_first;    /* before the shim */
};

static int
look(const char *path, const void *search)
{
	struct search *s = (struct search *)(uintptr_t)search;
	const char *slash = strrchr(path, '/');
	char dir[PATH_MAX];
	struct stat sb;

	snprintf(dir, sizeof(dir), "%.*s", slash != NULL ? (int)(slash - path) : 1,
		 slash == NULL ? "." : path);
	if (stat(slash == path ? "/" : dir, &sb) == 0 && sb.st_dev == s->dir.st_dev &&
	    sb.st_ino == s->dir.st_ino)
		s->has_dir = true;
	if (*s->real == '\0' && stat(path, &sb) == 0 && S_ISREG(sb.st_mode) &&
	    access(path, X_OK) == 0 && !is_ours(&sb)) {
		snprintf(s->real, sizeof(s->real), "%s", path);
		s->comes_first = !s->has_dir;
	}
	return ENOENT; /* go on */
}

static struct search
find(const char *dir, const char *word)
{
	struct search s = { .has_dir = false };

	if (stat(dir, &s.dir) == 0)
		find_program(word, look, &s);
	return s;
}

/* ---- what a shim does ---- */

/* Prints the lines about commands of this program; how many. */
static unsigned
print_rules(const char *name, const char *before)
{
	const struct limits_file *f;
	unsigned i, printed = 0;
	size_t k;

	for (i = 0; i < LIMITS_FILES; i++) {
		f = limits_file(i);
		for (k = 0; k < f->lines; k++) {
			if (!limits_is_about(&f->line[k], name))
				continue;
			if (before != NULL) {
				fputs(before, stdout);
				limits_print(&f->line[k]);
			}
			printed++;
		}
	}
	return printed;
}

static void
print_shim(const char *dir, const char *word)
{
	struct search s = find(dir, word);
	char before[PATH_MAX + NAME_MAX + 8];

	snprintf(before, sizeof(before), "%s\t%s\t", word, *s.real != '\0' ? s.real : "-");
	if (print_rules(*s.real != '\0' ? s.real : word, before) == 0)
		printf("%sno line of a limits file: it runs as ever\n", before);
}

static int
cannot(const char *path, const char *why)
{
	say(NULL, "shim: %s: %s", path, why);
	return FAILED;
}

static int
print_all(const char *dir)
{
	struct dirent **entry;
	char path[PATH_MAX];
	int n = scandir(dir, &entry, NULL, alphasort), printed = 0, i;

	if (n == -1)
		return cannot(dir, strerror(errno));
	for (i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, entry[i]->d_name);
		if (is_shim(path)) {
			print_shim(dir, entry[i]->d_name);
			printed++;
		}
		free(entry[i]);
	}
	free(entry);
	if (printed == 0)
		say(NULL, "shim: there is none in %s: flocklimitctl shim %s WORD... makes some",
		    dir, dir);
	return DONE;
}

/* ---- to make them, and to remove them ---- */

/* A shim that does nothing is no error, but nobody wants one. */
static void
advise(const char *dir, const char *word)
{
	struct search s = find(dir, word);

	if (!s.has_dir)
		say(NULL, "shim: %s is not in PATH, so nobody finds %s there: put it first", dir,
		    word);
	else if (*s.real == '\0')
		say(NULL, "shim: there is no program %s in PATH yet", word);
	else if (s.comes_first)
		say(NULL, "shim: %s comes before %s in PATH: put %s first", s.real, dir, dir);
	if (print_rules(*s.real != '\0' ? s.real : word, NULL) == 0)
		say(NULL,
		    "shim: no limits file says anything of %s, so it runs as ever: add a line "
		    "`command "
		    "%s -n N'",
		    word, word);
}

/* With the folders that lead to it. */
static int
make_folder(const char *dir)
{
	char path[PATH_MAX], *slash;

	snprintf(path, sizeof(path), "%s", dir);
	for (slash = path; (slash = strchr(slash + 1, '/')) != NULL; *slash = '/') {
		*slash = '\0';
		if (mkdir(path, 0777) == -1 && errno != EEXIST)
			return cannot(path, strerror(errno));
	}
	if (mkdir(path, 0777) == -1 && errno != EEXIST)
		return cannot(path, strerror(errno));
	return DONE;
}

static int
make(const char *dir, const char *word, const char *path)
{
	if (symlink(program, path) == -1) {
		if (errno != EEXIST)
			return cannot(path, strerror(errno));
		if (!is_shim(path))
			return cannot(path,
				      "exists, and is no shim: remove it, or use another folder");
	}
	advise(dir, word);
	return DONE;
}

static int
drop(const char *path)
{
	struct stat sb;

	if (lstat(path, &sb) == -1)
		return cannot(path, strerror(errno));
	if (!is_shim(path))
		return cannot(path, "is no shim, so it stays");
	return unlink(path) == -1 ? cannot(path, strerror(errno)) : DONE;
}

static bool
is_name(const char *word)
{
	return *word != '\0' && *word != '-' && *word != '.' && strchr(word, '/') == NULL &&
	       strlen(word) <= NAME_MAX && strcmp(word, OWN_NAME) != 0;
}

int
shim_of(const struct ctl *c)
{
	const char *dir = c->words > 0 ? c->word[0] : NULL;
	char path[PATH_MAX];
	int status, i;

	if (dir == NULL || *dir == '\0') {
		say(NULL, "shim: in which folder? write flocklimitctl shim DIR WORD...");
		return FAILED;
	}
	if ((status = find_flocklimit()) != DONE)
		return status;
	if (c->words == 1 && c->remove) {
		say(NULL, "shim: --remove which? write flocklimitctl shim --remove %s WORD...",
		    dir);
		return FAILED;
	}
	if (c->words == 1)
		return print_all(dir);
	for (i = 1; i < c->words; i++)
		if (!is_name(c->word[i]) || strlen(dir) + strlen(c->word[i]) + 2 > PATH_MAX) {
			say(NULL, "shim: '%s': not a program's name, as cargo or make", c->word[i]);
			return FAILED;
		}
	if (!c->remove && (status = make_folder(dir)) != DONE)
		return status;
	for (i = 1; i < c->words; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, c->word[i]);
		if ((c->remove ? drop(path) : make(dir, c->word[i], path)) != DONE)
			status = FAILED;
	}
	return status;
}
