/* SPDX-License-Identifier: ISC */
/*
 * limits.c - a limits file, and a command that it may be about.  The input's first line is the command,
 * with a space between two words; the rest is the file.
 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "limits_apply.h"
#include "say.h"

#define WORDS 20

const char *say_program = "flocklimit", *say_where, *say_tail;

static unsigned said;

void
say(const char *limiter, const char *format, ...)
{
	char line[4096];
	va_list ap;

	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	require(limiter == NULL);
	said++;
}

static void
split_command(char *text, char *word[WORDS + 1])
{
	unsigned n = 0;

	for (text = strtok(text, " "); text != NULL && n < WORDS; text = strtok(NULL, " "))
		word[n++] = text;
	word[n] = NULL;
}

static void
check_line(const struct limits_line *line, char *const *command)
{
	struct taker_options w = TAKER_DEFAULTS;
	unsigned n = line->command ? limits_match(line, command) : 0, i;
	int status;

	require(line->number > 0 && line->words > 0 && line->word[line->words] == NULL);
	for (i = 0; i < n; i++)
		require(command[i] != NULL);
	said = 0;
	status = limits_take(line, &w);
	require(say_where == NULL && said == (status != OPTION_OK));
	if (status != OPTION_OK)
		return;
	require(!w.limit_given && !w.weight_given && w.given.n == w.declared.n);
	require(w.request.weight >= 1 && w.request.weight <= FLK_MAX_UNITS);
	require(w.request.limit <= FLK_MAX_UNITS && (w.mode & ~0775u) == 0);
	require(w.file == NULL || w.file[0] == '/');
	require(line->command || w.name == NULL);
}

static char *
copy(struct bytes *b)
{
	char *text = calloc(b->left + 1, 1);

	require(text != NULL);
	memcpy(text, b->p, b->left);
	return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct bytes b = { data, size };
	char *first = take_line(&b), *text = copy(&b), none[] = "", *command[WORDS + 1];
	static struct limits_file f;
	int status;
	size_t k;

	unsetenv("FLOCKLIMIT_STORE");
	split_command(first != NULL ? first : none, command);
	f = (struct limits_file){ .path = "limits" };
	said = 0;
	status = limits_file_parse(&f, text);
	require(said == (status != OPTION_OK));
	for (k = 0; k < f.lines; k++) {
		if (status == OPTION_OK && command[0] != NULL)
			check_line(&f.line[k], command);
		free(f.line[k].word - 1); /* limiter, or command */
	}
	free(f.line);
	free(text);
	free(first);
	return 0;
}
