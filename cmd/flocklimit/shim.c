/* SPDX-License-Identifier: ISC */
/*
 * shim.c - which program a shim stands before.
 *
 * It is the next one in PATH behind the shim that is not this flocklimit, by whatever links.  That may be
 * a shim as well, of another tool, which finds us in its turn; then we run the one behind that.  So
 * FLOCKLIMIT_SHIM=NAME:DEPTH:PROCESS:PROGRAM tells a shim of that name what was run last:
 *
 *	PROCESS is N, and we are N          the program has become us: we search behind it as well
 *	PROCESS is ^N, our parent is N      the same, by a process in between that holds the permit
 *	anything else                       a call of its own, as make calls make: as if nothing was run
 *
 * DEPTH counts all of them.  A tool that starts us in a child of its own, where it means the program
 * behind it, looks like such a call: what calls itself a hundred times ends here.
 */
#include "shim.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "find_program.h"
#include "launchers.h"
#include "say.h"
#include "spawn.h"

#define OWN_NAME "flocklimit"
#define TOLD     "FLOCKLIMIT_SHIM"
#define DEEPEST  100

/*
 * The name of another program.  Somebody may have given ours another name, or have called it by a descriptor,
 * and this is no shim then.
 */
static bool
is_shim(const char *argv0)
{
	const char *name = launchers_name(argv0);
	char self[PATH_MAX];
	ssize_t n;

	if (strcmp(name, OWN_NAME) == 0 || *name == '\0' || *name == '-' ||
	    strncmp(argv0, "/proc/", 6) == 0 || strncmp(argv0, "/dev/fd/", 8) == 0)
		return false;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	if (n == -1)
		return true;
	self[n] = '\0';
	return strcmp(name, launchers_name(self)) != 0;
}

/* ---- what we are told, and tell ---- */

struct told {
	unsigned depth;
	bool by_parent; /* the process is to be our parent */
	pid_t process;
	const char *program; /* NULL: we are told nothing */
};

static struct told
read_told(const char *name)
{
	const char *text = getenv(TOLD);
	struct told t = { .program = NULL };
	size_t n = strlen(name);
	int pid, used = 0;

	if (text == NULL || strncmp(text, name, n) != 0 ||
	    sscanf(text + n, ":%u:%n", &t.depth, &used) != 1 || used == 0)
		return t;
	text += n + (size_t)used;
	t.by_parent = *text == '^';
	text += t.by_parent;
	used = 0;
	if (sscanf(text, "%d:%n", &pid, &used) == 1 && used > 0) {
		t.process = pid;
		t.program = text + used;
	}
	return t;
}

static int
tell(const char *name, const struct told *t)
{
	char text[NAME_MAX + PATH_MAX + 64];

	snprintf(text, sizeof(text), "%.*s:%u:%s%d:%s", NAME_MAX, name, t->depth,
		 t->by_parent ? "^" : "", (int)t->process, t->program);
	return setenv(TOLD, text, 1);
}

void
shim_starts(const char *argv0, bool in_child)
{
	struct told t = read_told(launchers_name(argv0));
	char path[PATH_MAX];

	if (t.program == NULL)
		return;
	snprintf(path, sizeof(path), "%s", t.program);
	t.program = path;
	t.by_parent = in_child;
	t.process = getpid();
	tell(launchers_name(argv0), &t); /* without memory it tells nothing */
}

/* ---- the search ---- */

struct search {
	const char *run_last; /* NULL: nothing */
	struct stat self;
	bool past_self, past_last; /* we have come past the shim, and past what was run last */
	char found[PATH_MAX];      /* the first since then; "": none */
	char before[PATH_MAX];     /* the first of all */
};

static int
look(const char *path, const void *search)
{
	struct search *s = (struct search *)(uintptr_t)search;
	bool is_last = s->run_last != NULL && strcmp(path, s->run_last) == 0;
	struct stat sb;

	if (stat(path, &sb) == -1)
		return errno;
	if (is_last && !s->past_last)
		*s->found = '\0';
	s->past_last |= is_last;
	if (sb.st_dev == s->self.st_dev && sb.st_ino == s->self.st_ino) {
		if (!s->past_self)
			*s->found = '\0';
		s->past_self = true;
		return ENOENT;
	}
	if (is_last)
		return ENOENT;
	if (!S_ISREG(sb.st_mode) || access(path, X_OK) == -1)
		return EACCES;
	if (*s->before == '\0')
		snprintf(s->before, sizeof(s->before), "%s", path);
	if (*s->found == '\0')
		snprintf(s->found, sizeof(s->found), "%s", path);
	return s->past_self && s->past_last ? 0 : ENOENT;
}

/* Behind the shim; if there is none, before it. */
static int
find(const char *name, const char *run_last, char path[PATH_MAX])
{
	struct search s = { .run_last = run_last, .past_last = run_last == NULL };
	int error;

	if (stat("/proc/self/exe", &s.self) == -1)
		s.past_self = true; /* and we may find ourselves, once */
	error = find_program(name, look, &s);
	if (*s.found == '\0' && run_last == NULL)
		memcpy(s.found, s.before, sizeof(s.found));
	memcpy(path, s.found, sizeof(s.found));
	return *path != '\0' ? 0 : error;
}

static int
refuse(const char *name, int error)
{
	say(NULL,
	    "%s: this is a shim, a link to flocklimit, and no program %s %s in PATH: install it, "
	    "or remove the shim",
	    name, name,
	    error == EACCES ? "that could be executed stands behind it" : "stands behind it");
	return cannot_run(error);
}

int
shim_words(int *argc, char ***argv)
{
	static char path[PATH_MAX];
	const char *argv0 = *argc > 0 ? (*argv)[0] : OWN_NAME, *name = launchers_name(argv0);
	struct told t;
	char **words;
	int error;

	if (!is_shim(argv0))
		return -1;
	t = read_told(name);
	if (t.process != (t.by_parent ? getppid() : getpid()))
		t.program = NULL;
	if ((error = find(name, t.program, path)) != 0)
		return refuse(name, error);
	t = (struct told){ .depth = t.depth + 1, .process = getpid(), .program = path };
	if (t.depth > DEEPEST) {
		say(NULL,
		    "%s: %s calls this shim again, and the shim calls it, for the %dth time: "
		    "put the shim's folder behind that one's in PATH",
		    name, path, DEEPEST);
		return 125;
	}
	words = calloc((size_t)*argc + 5, sizeof(*words));
	if (words == NULL || tell(name, &t) == -1) {
		say(NULL, "no memory for the words");
		free(words);
		return 125;
	}
	words[0] = (char *)(uintptr_t)OWN_NAME;
	words[1] = (char *)(uintptr_t) "--shim";
	words[2] = (*argv)[0];
	words[3] = (char *)(uintptr_t) "--";
	words[4] = path;
	memcpy(words + 5, *argv + 1, (size_t)*argc * sizeof(*words)); /* with the NULL */
	*argc += 4;
	*argv = words;
	return -1;
}
