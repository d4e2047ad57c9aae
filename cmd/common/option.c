#include "option.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "say.h"

int
option_bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return OPTION_BAD;
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

/* What getopt stumbled over, as it was typed.  It may be in the middle of a word. */
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
	return optopt != 0 ? option_name(optopt, table, room) : argv[optind - 1];
}

int
option_refuse(int c, char **argv, const struct option *table)
{
	char room[32];

	if (c == ':')
		say(NULL, "%s needs a value: see %s --help", culprit(argv, table, room), PROGRAM);
	else
		say(NULL, "%s is no option, or takes no value: see %s --help",
		    culprit(argv, table, room), PROGRAM);
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
