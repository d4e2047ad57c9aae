/* SPDX-License-Identifier: ISC */
/*
 * limits_apply.h - what the limits files say of a command and of a limiter: flocklimit-limits(5).
 */
#ifndef LIMITS_APPLY_H
#define LIMITS_APPLY_H

#include "limits_file.h"
#include "taker_options.h"

/*
 * The user's file and the machine's, or that of FLOCKLIMIT_LIMITS: what is said first counts.  Read once,
 * they stay.
 */
#define LIMITS_FILES 2

/* OPTION_OK; OPTION_BAD, after a line. */
int limits_read(void);

const struct limits_file *limits_file(unsigned which);

/* The line of that file about the command, by the longest match, or about the limiter; NULL: none. */
const struct limits_line *limits_of_command(const struct limits_file *f, char *const *command);
const struct limits_line *limits_of_limiter(const struct limits_file *f, const char *name);

/* "FILE:NUMBER" */
#define LIMITS_WHERE (PATH_MAX + 16)
const char *limits_where(const struct limits_line *line, char room[LIMITS_WHERE]);

/*
 * Takes the options of a line, which may be NULL, that were not given yet: OPTION_OK; or OPTION_BAD, after
 * a line that names the file's.
 */
int limits_take(const struct limits_line *line, struct taker_options *w);

/* Takes those of the lines about the command; about W's limiter, and its --and. */
int limits_take_command(struct taker_options *w, char *const *command);
int limits_take_limiter(struct taker_options *w);

/* Of the line about a limiter of --and, which and_option_parse() has read; after limits_take_limiter(). */
int limits_take_also(struct taker_options *w);

#endif
