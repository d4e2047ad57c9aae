/* SPDX-License-Identifier: ISC */
#include "makeflags.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
makeflags_sets_jobs(const char *word, const char *with_value, size_t *keep, bool *next)
{
	const char *p;

	*keep = 0;
	*next = false;
	if (strncmp(word, "--", 2) == 0) {
		*next = strcmp(word, "--jobs") == 0;
		return *next || strncmp(word, "--jobs=", 7) == 0;
	}
	if (word[0] != '-')
		return false;
	for (p = word + 1; *p != '\0' && *p != 'j'; p++)
		if (strchr(with_value, *p) != NULL)
			return false; /* what follows is its value */
	if (*p == '\0')
		return false;
	*keep = p > word + 1 ? (size_t)(p - word) : 0;
	*next = p[1] == '\0';
	return true;
}

bool
makeflags_is_number(const char *word)
{
	return *word != '\0' && word[strspn(word, "0123456789")] == '\0';
}

/* Appends the words of MAKEFLAGS that are not about jobs; returns what follows a `--', or NULL. */
static char *
copy_flags(char *old, char *flags, size_t size)
{
	char *word, *rest = NULL, letters[64];
	bool first = true, number, next = false;
	size_t n = 0, keep;

	for (word = strtok_r(old, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
		if (strcmp(word, "--") == 0)
			return rest;
		number = next && makeflags_is_number(word);
		next = false;
		/* The first word may be letters without a hyphen. */
		if (first && *word != '-' && strchr(word, '=') == NULL &&
		    strlen(word) < sizeof(letters) - 2) {
			snprintf(letters, sizeof(letters), "-%s", word);
			if (makeflags_sets_jobs(letters, MAKE_WITH_VALUE, &keep, &next))
				word[keep > 0 ? keep - 1 : 0] = '\0';
		} else if (makeflags_sets_jobs(word, MAKE_WITH_VALUE, &keep, &next)) {
			word[keep] = '\0';
		} else if (strncmp(word, "--jobserver-", 12) == 0) {
			*word = '\0';
		}
		first = false;
		if (*word != '\0' && !number)
			n += (size_t)snprintf(flags + n, size - n, "%s%s",
					      n > 0 || *word == '-' ? " " : "", word);
	}
	return NULL;
}

int
makeflags_set(uint32_t jobs, bool fifo, int in, int out)
{
	const char *old = getenv("MAKEFLAGS");
	size_t n, size = 2 * (old != NULL ? strlen(old) : 0) + 200;
	char *flags = calloc(1, size), *copy = strdup(old != NULL ? old : ""), *variables;
	int error = ENOMEM;

	if (flags != NULL && copy != NULL) {
		/*
		 * Variables follow a `--', after which no word is an option: they stay as they are.
		 */
		variables = copy_flags(copy, flags, size);
		n = strlen(flags);
		n += (size_t)snprintf(flags + n, size - n, " -j%u --jobserver-auth=", jobs);
		if (fifo)
			n += (size_t)snprintf(flags + n, size - n, "fifo:/proc/%d/fd/%d",
					      (int)getpid(), in);
		else
			n += (size_t)snprintf(flags + n, size - n, "%d,%d", in, out);
		if (variables != NULL)
			snprintf(flags + n, size - n, " -- %s", variables);
		error = setenv("MAKEFLAGS", flags, 1) == -1 ? errno : 0;
		unsetenv("CARGO_MAKEFLAGS"); /* its clients would look there first */
	}
	free(flags);
	free(copy);
	return error;
}
