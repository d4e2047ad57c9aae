/* SPDX-License-Identifier: ISC */
#include "suggest.h"

#include <stdio.h>
#include <string.h>

#define LETTERS 32 /* of a word that may be mistyped */
#define KNOWN   96
#define FAR     3 /* with so many typing errors it is another word */

static unsigned
least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* How many letters must be put in, left out, changed, or swapped with the next. */
static unsigned
distance(const char *a, const char *b)
{
	unsigned d[LETTERS + 1][LETTERS + 1];
	size_t m = strlen(a), n = strlen(b), i, j;

	if (m > LETTERS || n > LETTERS)
		return FAR;
	for (i = 0; i <= m; i++) {
		for (j = 0; j <= n; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
			d[i][j] = least_of(d[i][j], d[i - 1][j] + 1);
			d[i][j] = least_of(d[i][j], d[i][j - 1] + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = least_of(d[i][j], d[i - 2][j - 2] + 1);
		}
	}
	return d[m][n];
}

/* "did you mean --raw or --ramp-idle?" */
static void
list(const char *const *candidate, size_t n, const char *before, char room[SUGGEST_TEXT])
{
	size_t at = (size_t)snprintf(room, SUGGEST_TEXT, "did you mean "), i;

	for (i = 0; i < n && at < SUGGEST_TEXT; i++)
		at += (size_t)snprintf(room + at, SUGGEST_TEXT - at, "%s%s%s%s",
				       i == 0      ? ""
				       : i + 1 < n ? ", "
						   : " or ",
				       before, candidate[i], i + 1 == n ? "?" : "");
}

static const char *
nearest(const char *word, const char *const *known, size_t n)
{
	unsigned least = FAR, far;
	const char *found = NULL;
	size_t i;

	for (i = 0; i < n; i++) {
		far = distance(word, known[i]);
		/* With an error in every other letter it is another word. */
		if (far < least && 2 * far <= strlen(known[i])) {
			least = far;
			found = known[i];
		}
	}
	return found;
}

/* Each word is shown with `before' before it. */
static const char *
hint(const char *word, const char *const *known, size_t n, const char *before,
     char room[SUGGEST_TEXT])
{
	const char *candidate[KNOWN], *found;
	size_t length = strlen(word), candidates = 0, i;

	*room = '\0';
	for (i = 0; i < n && candidates < KNOWN && length > 0; i++)
		if (strncmp(word, known[i], length) == 0)
			candidate[candidates++] = known[i];
	if (candidates == 0 && (found = nearest(word, known, n)) != NULL)
		candidate[candidates++] = found;
	if (candidates > 0)
		list(candidate, candidates, before, room);
	return room;
}

const char *
suggest(const char *word, const char *const *known, size_t n, char room[SUGGEST_TEXT])
{
	return hint(word, known, n, "", room);
}

const char *
suggest_option(const char *word, const struct option *table, char room[SUGGEST_TEXT])
{
	const char *known[KNOWN];
	char name[LETTERS + 1];
	size_t n = 0;

	*room = '\0';
	word += strspn(word, "-");
	if (strcspn(word, "=") >= sizeof(name))
		return room;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(word, "="), word);
	for (; table->name != NULL && n < KNOWN; table++)
		known[n++] = table->name;
	return hint(name, known, n, "--", room);
}

const char *
suggest_habit(const char *word, const struct habit *habits)
{
	for (; habits->typed != NULL; habits++)
		if (strcmp(habits->typed, word) == 0)
			return habits->hint;
	return NULL;
}
