/* SPDX-License-Identifier: ISC */
/*
 * words.h - from sem's words to ours: the name of a limiter, and a line for the shell.
 */
#ifndef WORDS_H
#define WORDS_H

#include <stdbool.h>

#define WORDS_NAME 72

/*
 * The name of the limiter for an id: the id itself, where a byte that no name can have is %XX.
 * False: it is too long, or empty.
 */
bool words_name(const char *id, char name[WORDS_NAME]);

/*
 * The words with spaces between them, each in quotes if it is to reach the command as it is; NULL: no
 * memory.
 */
char *words_line(char *const *words, bool quote);

#endif
