/* SPDX-License-Identifier: ISC */
/*
 * say.h - lines for people, on stderr; each goes out in one write, and no byte of it can move a
 * terminal's cursor.
 */
#ifndef SAY_H
#define SAY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct flk_place;

#define PLACE_TEXT   400
#define FOREIGN_TEXT (PATH_MAX + 200)

/* The command's name: each line begins with it.  The command's main function sets it first. */
extern const char *say_program;

/* The line of a file that is read just now, for say() to name before all else; NULL: none. */
extern const char *say_where;

/* What each line ends with, from now on; NULL: nothing. */
extern const char *say_tail;

void say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "DIR belongs to user ann: ...", for the directory of the limiter PATH. */
const char *say_foreign_dir(const char *path, char room[FOREIGN_TEXT]);

/*
 * Whether stderr is a terminal on which a status line may be drawn.  A job in the background may
 * not: its line would be drawn over the shell's prompt.
 */
bool say_has_terminal(void);

/*
 * Draws a line without a newline over the line that say_status() drew before; "" clears that.  The
 * line is no wider than the terminal.  It begins with the limiter's name, without the program's, to
 * leave room for the text.  A job that has gone to the background since draws nothing.
 */
void say_status(const char *limiter, const char *text);

/* The columns that say_status() has for a text. */
size_t say_status_width(const char *limiter);

/* Shortens it to at most so many columns, with "..." at its end. */
void say_cut(char *text, size_t most);

/* "340 ms", "12 s", "12 min", "3 h 5 min", "2 d 4 h" */
const char *say_duration(double seconds, char room[32]);

#endif
