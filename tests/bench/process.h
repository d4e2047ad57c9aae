/* SPDX-License-Identifier: ISC */
/*
 * process.h - the programs that are compared, and how they are started.
 */
#ifndef BENCH_PROCESS_H
#define BENCH_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define COMMAND_WORDS 16

struct command {
	const char *label;
	char *word[COMMAND_WORDS]; /* the first is a path; word[0] NULL: not installed */
	int words;
};

/*
 * The words end with NULL.  The first is the name of a program: it is looked for in PATH unless
 * it has a slash.
 */
void command_make(struct command *c, const char *label, const char *program, ...)
    __attribute__((sentinel));
void command_add(struct command *c, const char *word);
bool command_is_there(const struct command *c);
void command_free(struct command *c);

/* input: a file for stdin, or NULL. */
pid_t command_start(const struct command *c, const char *input);

/* Waits for the process; dies if it failed. */
void command_finish(pid_t pid, const char *label);

/* From before the start to after the end, in ns. */
uint64_t command_time(const struct command *c);

#endif
