/* SPDX-License-Identifier: ISC */
#include "launchers.h"

#include <stdio.h>
#include <string.h>

static const struct launcher {
	const char *name;
	/* Letters of options whose value may be the next word: also the first of a long option. */
	const char *with_value;
	int words; /* that are no options, before the program */
} launchers[] = {
	{ "env", "uCc", 0 },
	{ "nice", "na", 0 },
	{ "taskset", "", 1 },
	{ "timeout", "ks", 1 },
};

const char *
launchers_name(const char *program)
{
	const char *slash = strrchr(program, '/');

	return slash != NULL ? slash + 1 : program;
}

static const struct launcher *
find(const char *program)
{
	const char *name = launchers_name(program);
	size_t i;

	for (i = 0; i < sizeof(launchers) / sizeof(launchers[0]); i++)
		if (strcmp(launchers[i].name, name) == 0)
			return &launchers[i];
	return NULL;
}

/* Whether the value of this option is the next word. */
static bool
wants_next(const struct launcher *l, const char *option)
{
	if (option[1] == '-')
		return option[2] != '\0' && strchr(l->with_value, option[2]) != NULL &&
		       strchr(option, '=') == NULL;
	option += 1 + strcspn(option + 1, l->with_value);
	return option[0] != '\0' && option[1] == '\0';
}

/* The words from the launched program on; NULL: it launches none. */
static char *const *
skip(const struct launcher *l, char *const *command)
{
	int words = l->words;

	for (command++; *command != NULL; command++)
		if (**command == '-') {
			if (wants_next(l, *command) && command[1] != NULL)
				command++;
		} else if (strchr(*command, '=') == NULL && words-- == 0) { /* no variable */
			return command;
		}
	return NULL;
}

/* cmake keeps the build's program in a line `CMAKE_MAKE_PROGRAM:FILEPATH=/usr/bin/ninja'. */
static bool
read_cache(const char *dir, char path[PATH_MAX])
{
	static const char key[] = "CMAKE_MAKE_PROGRAM:";
	char line[PATH_MAX + sizeof(key) + 20], *value;
	bool found = false;
	FILE *cache;

	snprintf(line, sizeof(line), "%s/CMakeCache.txt", dir);
	cache = fopen(line, "re");
	while (cache != NULL && !found && fgets(line, sizeof(line), cache) != NULL) {
		value = strncmp(line, key, sizeof(key) - 1) == 0 ? strchr(line, '=') : NULL;
		found = value != NULL;
		if (found)
			snprintf(path, PATH_MAX, "%.*s", (int)strcspn(value + 1, "\n"), value + 1);
	}
	if (cache != NULL)
		fclose(cache);
	return found;
}

void
launchers_look_through(char *const *command, struct launched *l)
{
	const struct launcher *launcher;
	char *const *next;

	while ((launcher = find(*command)) != NULL && (next = skip(launcher, command)) != NULL)
		command = next;
	l->words = command;
	l->by_cmake = strcmp(launchers_name(command[0]), "cmake") == 0 && command[1] != NULL &&
		      strcmp(command[1], "--build") == 0 && command[2] != NULL &&
		      read_cache(command[2], l->path);
	l->program = l->by_cmake ? l->path : command[0];
}
