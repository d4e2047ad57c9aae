/* SPDX-License-Identifier: ISC */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "name.h"

bool
words_name(const char *id, char name[WORDS_NAME])
{
	size_t n = 0;
	const char *p;

	for (p = id; *p != '\0'; p++) {
		bool is_kept = *p != '%' && strchr(NAME_CHARACTERS, *p) != NULL &&
			       (p > id || (*p != '.' && *p != '-'));
		if (n + (is_kept ? 1 : 3) > FLK_NAME_MAX)
			return false;
		n += (size_t)snprintf(name + n, WORDS_NAME - n, is_kept ? "%c" : "%%%02X",
				      (unsigned char)*p);
	}
	name[n] = '\0';
	return n > 0;
}

/* In single quotes; and a single quote itself as '\''. */
static char *
quoted(char *to, const char *word)
{
	*to++ = '\'';
	for (; *word != '\0'; word++) {
		if (*word == '\'')
			to = stpcpy(to, "'\\'");
		*to++ = *word;
	}
	*to++ = '\'';
	return to;
}

char *
words_line(char *const *words, bool quote)
{
	size_t room = 1, i;
	char *line, *to;

	for (i = 0; words[i] != NULL; i++)
		room += 4 * strlen(words[i]) + 3;
	to = line = malloc(room);
	if (line == NULL)
		return NULL;
	for (i = 0; words[i] != NULL; i++) {
		if (i > 0)
			*to++ = ' ';
		to = quote ? quoted(to, words[i]) : stpcpy(to, words[i]);
	}
	*to = '\0';
	return line;
}
