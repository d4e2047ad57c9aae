/* SPDX-License-Identifier: ISC */
/*
 * limiters.c - from words to limiters.  Only the verb path creates one.
 */
#include "limiters.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "kind.h"
#include "children.h"
#include "ctl.h"
#include "declared.h"
#include "explain.h"
#include "say.h"
#include "signals.h"
#include "stuck.h"
#include "suggest.h"
#include "name.h"
#include "own.h"
#include "text.h"
#include "users.h"
#include "verb.h"

/*
 * A signal that stops us must not do so while we are inside the region and keep everyone out.
 * Faults stay unblocked: SIGBUS means that the file was cut short, and its handler must run.
 */
static void
block_signals(void *context, bool is_inside)
{
	static sigset_t was;
	sigset_t all;
	int sig;

	(void)context;
	if (!is_inside) {
		sigprocmask(SIG_SETMASK, &was, NULL);
		return;
	}
	sigfillset(&all);
	for (sig = 1; sig < 32; sig++)
		if (signal_is_fault(sig))
			sigdelset(&all, sig);
	sigprocmask(SIG_BLOCK, &all, &was);
}

const struct flk_options existing = { .existing = true, .inside = block_signals };

/* The path, to be shown after the name; "" if the name is the path itself. */
static const char *
where(const char *name, const char *path)
{
	if (strncmp(path, "./", 2) == 0 && strcmp(path + 2, name) == 0)
		return "";
	return strcmp(path, name) == 0 ? "" : path;
}

static int
foreign(const char *name, const char *path)
{
	const char *at = where(name, path), *colon = *at != '\0' ? ": " : "";
	char user[USER_TEXT];
	struct stat sb;

	if (lstat(path, &sb) == -1)
		say(name, "%s%s%s", at, colon, explain(-FLK_FOREIGN));
	else
		say(name,
		    "%s%sbelongs to user %s: run flocklimitctl as that user, say by sudo -u %s", at,
		    colon, user_name(sb.st_uid, false, user), user);
	return FAILED;
}

void
say_absent(const char *name, const char *path, bool waits)
{
	const char *yet = waits ? " yet" : "", *then = waits ? "waiting for it; " : "";
	char text[SUGGEST_TEXT];
	const char *hint = "";
	struct declared declared;
	char **known;
	size_t n;

	if (*where(name, path) == '\0') {
		say(name, "there is no limiter in this path%s",
		    waits ? " yet: waiting for it" : "");
		return;
	}
	if (here.operating->names(&known, &n) == 0) {
		hint = suggest(name, (const char *const *)known, n, text);
		kind_forget(known, n);
	}
	if (declared_find(&declared, name) == OPTION_OK && declared.file != NULL) {
		say(name,
		    "no taker has used it yet: %s%s:%u declares it, and its first taker makes it",
		    then, declared.file, declared.line);
		return;
	}
	say(name, "there is no such limiter%s (%s): %s%s", yet, path, then,
	    *hint != '\0' ? hint : "flocklimitctl list shows those there are");
}

int
refuse(const char *name, const char *path, struct flk *f, int code)
{
	const char *at = where(name, path), *colon = *at != '\0' ? ": " : "";
	char text[FOREIGN_TEXT], why[STUCK_TEXT];

	switch (-code) {
	case ENOENT:
		say_absent(name, path, false);
		return NO;
	case FLK_DAMAGED:
		say(name,
		    "%s%sis damaged: flocklimitctl check --repair repairs it, or, when no process "
		    "has it open any more, flocklimitctl rm removes it",
		    at, colon);
		return FAILED;
	case FLK_FOREIGN:
		return foreign(name, path);
	case FLK_FOREIGNDIR:
		say(name, "%s", say_foreign_dir(path, text));
		return FAILED;
	case FLK_STUCK:
		say(name, "%s", stuck_text(f != NULL ? flk_stuck_pid(f) : 0, why));
		return FAILED;
	case FLK_GONE:
		say(name, "%s%sit was removed", at, colon);
		return NO;
	case EROFS:
		say(name, "%s%s%s: even a look writes to a limiter: mount it writable", at, colon,
		    strerror(EROFS));
		return FAILED;
	case EAGAIN:
		say(name, "%s%sis changed all the time: look again", at, colon);
		return FAILED;
	case EACCES:
	case EPERM:
		if (f != NULL && flki_is_reader(f))
			say(name, "%s%sis another user's, and is only looked at", at, colon);
		else
			say(name, "%s%s%s: its owner and root may", at, colon, strerror(-code));
		return FAILED;
	default:
		say(name, "%s%s%s%s", at, colon, explain(code), remedy_for(-code));
		return FAILED;
	}
}

bool
is_nothing(int error)
{
	return error == -ENOENT || error == -FLK_GONE || error == -FLK_NOTLIMITER ||
	       error == -FLK_NOTFILE || error == -FLK_SYMLINK;
}

bool
is_named(const struct ctl *c)
{
	bool some = c->files + c->words > 0;

	if (c->all && some)
		say(NULL, "'%s': --all is for all limiters: name none", name_of(c));
	else if (!c->all && !some)
		say(NULL, "which limiter? NAME, or --file PATH: see --help");
	return some != c->all;
}

bool
is_many(const struct ctl *c)
{
	return c->all || c->words + c->files > 1;
}

const char *
name_of(const struct ctl *c)
{
	return c->files > 0 ? c->file[0] : c->word[0];
}

const char *
last_word(struct ctl *c)
{
	if (c->words <= (c->files > 0 || c->all ? 0 : 1))
		return NULL;
	return c->word[--c->words];
}

/* The path for here.attach(), which needs a slash in it; NULL, after a line. */
static const char *
as_path(const char *file, char path[PATH_MAX])
{
	if (*file == '\0') {
		say(NULL, "--file '': which path?");
		return NULL;
	}
	if (strlen(file) + 3 > PATH_MAX) {
		say(NULL, "--file '%.60s...': %s", file, strerror(ENAMETOOLONG));
		return NULL;
	}
	if (strchr(file, '/') != NULL)
		return file;
	snprintf(path, PATH_MAX, "./%s", file);
	return path;
}

/* A name, or the path that a limits file gives to it; or that of another user's limiter. */
static const char *
as_name(const struct ctl *c, const char *word, char path[PATH_MAX])
{
	struct declared d = { .file = NULL };
	int error = here.locate(word, path, PATH_MAX);

	if (c->user_dir != NULL && flki_is_name(word)) {
		snprintf(path, PATH_MAX, "%s/%s", c->user_dir, word);
		return path;
	}
	if (error == 0 && here.is_file && declared_find(&d, word) != OPTION_OK)
		return NULL;
	if (d.file != NULL && d.want.file != NULL) {
		snprintf(path, PATH_MAX, "%s", d.want.file);
		return path;
	}
	if (strchr(word, '/') != NULL)
		say(NULL, "'%s': not a limiter's name; for a path: --file", word);
	else if (error == -ENAMETOOLONG)
		say(NULL, "FLOCKLIMIT_DIR: %s", strerror(ENAMETOOLONG));
	else if (error != 0)
		say(NULL, "'%s': %s", word, explain(error));
	else
		return word;
	return NULL;
}

static const struct flk_options *
how(const struct ctl *c)
{
	static const struct flk_options damaged = { .existing = true,
						    .damaged = true,
						    .inside = block_signals };

	return c->even_damaged ? &damaged : &existing;
}

int
attach_existing(const struct ctl *c, struct flk **f, const char *name)
{
	static const struct flk_options reading = { .existing = true, .reading = true };
	int error = users_are_others(c) ? -FLK_FOREIGN : here.attach(f, name, how(c));

	return error == -FLK_FOREIGN && c->verb->reads ? here.attach(f, name, &reading) : error;
}

/* Opens it; a verb that steers makes one that a limits file declares. */
static int
attach(const struct ctl *c, struct flk **f, const char *name, const char *shown)
{
	struct flk_options options;
	struct declared d;
	int error = attach_existing(c, f, name);

	if (error != -ENOENT || !c->verb->makes || declared_find(&d, shown) != OPTION_OK ||
	    d.file == NULL)
		return error;
	options = declared_options(&d);
	return here.attach(f, name, &options);
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
	if (!is_named(c))
		return NULL;
	name = by_file ? as_path(c->file[0], room) : as_name(c, c->word[0], room);
	*rest = c->word + !by_file;
	*rests = c->words - !by_file;
	if (name == NULL)
		return NULL;
	error = attach(c, &f, name, name_of(c));
	if (error != 0) {
		here.locate(name, path, sizeof(path));
		*status = refuse(name_of(c), path, NULL, error);
	}
	return f;
}

/* ---- many ---- */

int
visit(const struct ctl *c, const char *name, const char *shown, each_limiter *each, void *ctx)
{
	char path[PATH_MAX];
	struct visit v = { .name = shown, .path = path };
	int status;

	if (name == NULL)
		return FAILED;
	if (c->apart && !child_begin())
		return DONE;
	v.error = attach(c, &v.f, name, shown);
	here.locate(name, path, sizeof(path));
	status = each(c, &v, ctx);
	if (status < 0)
		status = c->all && is_nothing(status) ? DONE : refuse(shown, path, v.f, status);
	flk_detach(v.f);
	if (c->apart)
		child_exit(status);
	return status;
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds those that only a limits file knows; without memory, none. */
static void
add_declared(char ***name, size_t *n)
{
	const char *declared;
	size_t i, k, had = *n;
	char **more;

	for (i = 0; (declared = declared_name(i)) != NULL; i++) {
		for (k = 0; k < had && strcmp((*name)[k], declared) != 0; k++)
			;
		if (k < had || (more = realloc(*name, (*n + 1) * sizeof(*more))) == NULL)
			continue;
		*name = more;
		if ((more[*n] = strdup(declared)) != NULL)
			++*n;
	}
	if (*n > had)
		qsort(*name, *n, sizeof(**name), by_name);
}

static int
visit_all(const struct ctl *c, each_limiter *each, void *ctx)
{
	int s, status = DONE;
	char **name, room[PATH_MAX];
	size_t n, i;

	if (c->users || c->user != NULL)
		return users_visit(c, each, ctx);
	if (here.operating->names(&name, &n) != 0) {
		if (!c->quiet)
			say(NULL, "%s", here.operating->trouble());
		return FAILED;
	}
	if (c->verb->lists && here.is_file)
		add_declared(&name, &n);
	for (i = 0; i < n; i++) {
		s = visit(c, as_name(c, name[i], room), name[i], each, ctx);
		status = s > status ? s : status;
	}
	kind_forget(name, n);
	return status;
}

int
for_each(const struct ctl *c, each_limiter *each, void *ctx)
{
	char room[PATH_MAX];
	int i, s, status = DONE;

	if (c->files == 0 && c->words == 0)
		return visit_all(c, each, ctx);
	if (c->users) {
		say(NULL,
		    "'%s': --users is for the limiters of all users: name none, or use --user",
		    name_of(c));
		return FAILED;
	}
	/* If a word can't be a name, do nothing: the user may have given two values, say. */
	for (i = 0; i < c->words; i++)
		if (as_name(c, c->word[i], room) == NULL)
			return FAILED;
	for (i = 0; i < c->words; i++) {
		s = visit(c, as_name(c, c->word[i], room), c->word[i], each, ctx);
		status = s > status ? s : status;
	}
	for (i = 0; i < c->files; i++) {
		s = visit(c, as_path(c->file[i], room), c->file[i], each, ctx);
		status = s > status ? s : status;
	}
	return status;
}

int
for_each_at_once(const struct ctl *c, each_limiter *each, void *ctx)
{
	struct ctl mine = *c;
	int status, others;

	mine.apart = is_many(c);
	status = for_each(&mine, each, ctx);
	others = mine.apart ? children_wait() : DONE;
	return others > status ? others : status;
}
