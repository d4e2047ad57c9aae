/* SPDX-License-Identifier: ISC */
/*
 * option_value.c - the kinds of values that an option may have.
 */
#include "option.h"

#include <stdio.h>
#include <string.h>

#include "parse.h"
#include "say.h"

int
option_bad(const char *option, const char *value, const char *what)
{
	say(NULL, "%s '%s': %s", option, value, what);
	return OPTION_BAD;
}

bool
option_is_among(const char *list, const char *word, int *at)
{
	size_t n = strlen(word);

	for (*at = 0; *list != '\0'; ++*at) {
		if (strcspn(list, " ") == n && strncmp(list, word, n) == 0)
			return true;
		list += strcspn(list, " ");
		list += *list == ' ';
	}
	return false;
}

/* "use fifo or pipe" */
static int
refuse_choice(const struct option_row *row, const char *option, const char *word)
{
	const char *p = row->offers;
	char what[100] = "use ";
	size_t n = strlen(what), length;

	for (;;) {
		length = strcspn(p, " ");
		n += (size_t)snprintf(what + n, sizeof(what) - n, "%.*s", (int)length, p);
		p += length;
		if (*p == '\0' || n >= sizeof(what))
			return option_bad(option, word, what);
		n += (size_t)snprintf(what + n, sizeof(what) - n, "%s",
				      strchr(++p, ' ') != NULL ? ", " : " or ");
	}
}

int
option_choice(const struct option_row *row, const char *option, const char *word, int *which)
{
	return option_is_among(row->offers, word, which) ? OPTION_OK
							 : refuse_choice(row, option, word);
}

static void *
place(const struct option_row *row, void *into)
{
	return (char *)into + row->at;
}

int
take_yes(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)option;
	(void)word;
	*(bool *)place(row, into) = true;
	return OPTION_OK;
}

int
take_text(const struct option_row *row, void *into, const char *option, char *word)
{
	(void)option;
	*(const char **)place(row, into) = word;
	return OPTION_OK;
}

int
take_number(const struct option_row *row, void *into, const char *option, char *word)
{
	uint64_t v;

	if (!parse_number(word, row->least, row->most, &v))
		return option_bad(option, word, row->wrong);
	*(uint32_t *)place(row, into) = (uint32_t)v;
	return OPTION_OK;
}

int
take_time(const struct option_row *row, void *into, const char *option, char *word)
{
	return parse_duration(word, place(row, into)) ? OPTION_OK
						      : option_bad(option, word, PARSE_DURATION);
}

int
take_parsed(const struct option_row *row, void *into, const char *option, char *word)
{
	return row->parse(word, place(row, into)) ? OPTION_OK
						  : option_bad(option, word, row->wrong);
}

int
take_choice(const struct option_row *row, void *into, const char *option, char *word)
{
	return option_choice(row, option, word, place(row, into));
}
