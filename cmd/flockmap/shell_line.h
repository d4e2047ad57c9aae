/* SPDX-License-Identifier: ISC */
/*
 * shell_line.h - where in a line for sh a word in quotes may be put in.
 *
 * An item in '...' is one word, or a part of one, and nothing in it is a command, if it stands outside
 * of quotes, comments and ${...}.  In a here-document, in `...`, $((...)), $'...', and behind a nested
 * construct that a reader of single characters can't follow, it might be one.  From there on the line
 * takes no item: UNSURE.
 */
#ifndef SHELL_LINE_H
#define SHELL_LINE_H

#include <stdbool.h>

struct shell_place {
	enum { BARE, SINGLE, DOUBLE, COMMENT, NAME, NAME_IN_DOUBLE, UNSURE } in; /* NAME: ${...} */
	bool escaped;  /* behind a backslash */
	char previous; /* character; a backslash and a newline are none */
};

#define SHELL_BEGIN               \
	{                         \
		BARE, false, '\n' \
	}

/* Whether a word in single quotes may stand here. */
bool shell_takes_word(const struct shell_place *p);

/* Goes on behind the character c. */
void shell_pass(struct shell_place *p, char c);

#endif
