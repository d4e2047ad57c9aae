/* SPDX-License-Identifier: ISC */
/*
 * limits_file.h - the lines of the limits files, flocklimit-limits(5): what stands in them, and not yet
 * what the options there mean.
 */
#ifndef LIMITS_FILE_H
#define LIMITS_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define LIMITS_MACHINE "/etc/flocklimit/limits"
#define LIMITS_BYTES   65536 /* a larger file is refused */

struct limits_line {
	const char *file; /* its path */
	unsigned number;
	bool command; /* command WORDS OPTION...; else limiter NAME OPTION... */
	const char *name;
	int words;
	char **word; /* the name, then the options; a NULL ends them, as it does argv */
};

/* All lines of one file.  It stays: the options that a taker takes point into it. */
struct limits_file {
	char path[PATH_MAX];
	struct limits_line *line;
	size_t lines;
};

/* Whose file it is: one that was asked for must be there, and one in a home may be out of reach. */
enum limits_of { LIMITS_OF_MACHINE, LIMITS_OF_USER, LIMITS_ASKED_FOR };

/*
 * Reads the file: OPTION_OK, with no lines if there is none and none need be there; or OPTION_BAD, after
 * a line, if another user could have written it, or a line has no such form.
 */
int limits_file_read(struct limits_file *f, const char *path, enum limits_of whose);

/* The lines of a text, which it changes: the same. */
int limits_file_parse(struct limits_file *f, char *text);

/* Whether it is a `command' line that begins with this program, whatever its next words. */
bool limits_is_about(const struct limits_line *line, const char *program);

/* How many words of a command the words of a `command' line are, which are its first; 0: others. */
unsigned limits_match(const struct limits_line *line, char *const *command);

#endif
