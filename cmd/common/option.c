/* SPDX-License-Identifier: ISC */
#include "option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"
#include "suggest.h"

int
option_bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return OPTION_BAD;
}

int
option_apart(const char *option, const char *next, const char *const values[])
{
	for (; *values != NULL && next != NULL; values++) {
		if (strcmp(next, *values) == 0) {
			say(NULL, "%s %s: write %s=%s", option, next, option, next);
			return OPTION_BAD;
		}
	}
	return OPTION_OK;
}

const char *
option_name(int c, const struct option *table, char room[32])
{
	const struct option *o;

	if (c < 256 && c > ' ') {
		snprintf(room, 32, "-%c", c);
		return room;
	}
	for (o = table; o->name != NULL; o++) {
		if (o->val == c) {
			snprintf(room, 32, "--%s", o->name);
			return room;
		}
	}
	return "option";
}

/*
 * The option that getopt(3) refused, as it was typed; or its letter, if it is amid others in a
 * word.
 */
static const char *
culprit(char **argv, const struct option *table, char room[32])
{
	const char *word = argv[optind - 1];
	const struct option *o;

	/* A missing value may have taken optind beyond the end. */
	for (o = table; o->name != NULL && optopt != 0 && word != NULL; o++)
		if (o->val == optopt && strncmp(word, "--", 2) == 0 &&
		    strncmp(word + 2, o->name, strcspn(word + 2, "=")) == 0)
			return word;
	return optopt >= 256 || (optopt > ' ' && optopt < 0x7f) ? option_name(optopt, table, room)
								: argv[optind - 1];
}

int
option_refuse(int c, char **argv, const struct option *table, const struct habit *habits)
{
	char room[32], typed[64], text[SUGGEST_TEXT];
	const char *word = culprit(argv, table, room), *hint;

	if (c == ':') {
		say(NULL, "%s needs a value: see %s --help", word, say_program);
		return OPTION_BAD;
	}
	if (optopt != 0 && strncmp(word, "--", 2) == 0) {
		say(NULL, "option '%s': takes no value: see %s --help", word, say_program);
		return OPTION_BAD;
	}
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(word, "="), word);
	hint = habits != NULL ? suggest_habit(typed, habits) : NULL;
	if (hint != NULL) {
		say(NULL, "option '%s': unknown: %s", word, hint);
		return OPTION_BAD;
	}
	hint = optopt == 0 ? suggest_option(word, table, text) : "";
	/* A hint with "or" in it lists the options that begin with the word. */
	say(NULL, "option '%s': %s: %s%ssee %s --help", word,
	    strstr(hint, " or ") != NULL ? "ambiguous" : "unknown", hint, *hint != '\0' ? " " : "",
	    say_program);
	return OPTION_BAD;
}

int
option_print(const char *text)
{
	size_t n = strlen(text);

	if (write(STDOUT_FILENO, text, n) == (ssize_t)n)
		return 0;
	say(NULL, "stdout: %s", strerror(errno));
	return OPTION_BAD;
}
