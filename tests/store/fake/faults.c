/* SPDX-License-Identifier: ISC */
#include "faults.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = { "",       "cut",  "swallow", "late",    "delay",     "hold",
				     "refuse", "hang", "answer",  "garbage", "cut-answer" };

const char *
action_name(enum action action)
{
	return names[action];
}

/* The next word of a line, of at most room - 1 bytes; false: there is none, or it is longer. */
static bool
word(const char **line, char *to, size_t room)
{
	size_t n;

	*line += strspn(*line, " \t");
	n = strcspn(*line, " \t");
	if (n == 0 || n >= room)
		return false;
	memcpy(to, *line, n);
	to[n] = '\0';
	*line += n;
	return true;
}

static bool
number(const char **line, long *n)
{
	char text[24], *end;

	if (!word(line, text, sizeof(text)))
		return false;
	*n = strtol(text, &end, 10);
	return *end == '\0' && *n >= 0;
}

static bool
read_action(const char *name, const char *line, struct deed *deed)
{
	long n = 0;
	size_t i;

	for (i = 1; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(names[i], name) == 0)
			break;
	}
	if (i == sizeof(names) / sizeof(names[0]))
		return false;
	deed->action = (enum action)i;
	if (i != LATE && i != DELAY && i != ANSWER)
		return true;
	if (!number(&line, &n))
		return false;
	if (i == ANSWER) {
		deed->status = (int)n;
		line += strspn(line, " \t");
		deed->text = must_copy(line, strlen(line));
	} else {
		deed->ms = n;
	}
	return true;
}

/* One of the words before the action; false: not understood. */
static bool
read_condition(struct fault *fault, const char *name, const char **line)
{
	char text[256];
	long n;

	if (strcmp(name, "always") == 0) {
		fault->times = ULONG_MAX;
		return true;
	}
	if (strcmp(name, "with") == 0) {
		if (fault->with != NULL || !word(line, text, sizeof(text)))
			return false;
		fault->with = must_copy(text, strlen(text));
		return true;
	}
	if (!number(line, &n))
		return false;
	*(strcmp(name, "nth") == 0 ? &fault->nth : &fault->times) = (unsigned long)n;
	return true;
}

static bool
is_condition(const char *name)
{
	return strcmp(name, "nth") == 0 || strcmp(name, "times") == 0 ||
	       strcmp(name, "with") == 0 || strcmp(name, "always") == 0;
}

bool
faults_add(struct faults *f, const char *line)
{
	struct fault fault = { .nth = 1, .times = 1 };
	char name[64];
	bool fine;

	fine = word(&line, fault.path, sizeof(fault.path)) && word(&line, name, sizeof(name));
	while (fine && is_condition(name))
		fine = read_condition(&fault, name, &line) && word(&line, name, sizeof(name));
	if (!fine || !read_action(name, line, &fault.deed)) {
		free(fault.with);
		return false;
	}
	f->list = must_grow(f->list, f->count + 1, sizeof(*f->list));
	f->list[f->count++] = fault;
	return true;
}

/* Not the texts of answers, which may be under way. */
void
faults_clear(struct faults *f)
{
	while (f->count > 0)
		free(f->list[--f->count].with);
}

static void
count(struct faults *f, const char *path)
{
	size_t i;

	for (i = 0; i < f->path_count; i++) {
		if (strcmp(f->paths[i].path, path) == 0)
			break;
	}
	if (i == f->path_count) {
		f->paths = must_grow(f->paths, ++f->path_count, sizeof(*f->paths));
		f->paths[i].calls = 0;
		snprintf(f->paths[i].path, sizeof(f->paths[i].path), "%s", path);
	}
	f->paths[i].calls++;
}

static bool
concerns(const struct fault *fault, const char *path, const char *description)
{
	return (strcmp(fault->path, "*") == 0 || strcmp(fault->path, path) == 0) &&
	       (fault->with == NULL || strstr(description, fault->with) != NULL);
}

/* All faults count; the first whose turn it is is done. */
struct deed
faults_of(struct faults *f, const char *path, const char *description)
{
	struct deed deed = { .action = AS_ASKED };
	size_t i;

	count(f, path);
	for (i = 0; i < f->count; i++) {
		struct fault *fault = &f->list[i];

		if (!concerns(fault, path, description))
			continue;
		fault->seen++;
		if (fault->seen >= fault->nth && fault->seen - fault->nth < fault->times &&
		    deed.action == AS_ASKED)
			deed = fault->deed;
	}
	return deed;
}

unsigned long
faults_count(const struct faults *f, const char *path)
{
	unsigned long n = 0;
	size_t i;

	for (i = 0; i < f->path_count; i++) {
		if (strcmp(path, "*") == 0 || strcmp(f->paths[i].path, path) == 0)
			n += f->paths[i].calls;
	}
	return n;
}

bool
is_done_later(enum action action)
{
	return action == DELAY || action == HOLD;
}
