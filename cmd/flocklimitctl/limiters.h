/* SPDX-License-Identifier: ISC */
/*
 * limiters.h - the limiters that a command line names: opens them, visits them, says what is wrong.
 */
#ifndef LIMITERS_H
#define LIMITERS_H

#include <stdbool.h>

#include "flocklimit.h"

struct ctl;

/* To open a limiter that exists; signals are blocked while we are inside its region. */
extern const struct flk_options existing;

/* Another user's limiter is opened for reading, by a verb that only looks. */
int attach_existing(const struct ctl *c, struct flk **f, const char *name);

/*
 * Opens the one limiter of the command line: that of -f, or else of the first word.  *rest are the
 * other words.  NULL, after a line, if it can't be opened; *status is the status to exit with.
 */
struct flk *open_named(const struct ctl *c, char ***rest, int *rests, int *status);

/* Whether the command line has either names and files, or --all.  False, after a line. */
bool is_named(const struct ctl *c);

/*
 * Whether it may name several limiters: then each line has the limiter's name, and JSON is an
 * array.
 */
bool is_many(const struct ctl *c);

/*
 * Whether --all passes over a limiter with that error: the directory may have files of another
 * kind, and another process may remove a limiter meanwhile.
 */
bool is_nothing(int error);

/* Takes the last word, which follows the names, off the words; NULL: there is none. */
const char *last_word(struct ctl *c);

/* The limiter as the user gave it: a name, or the path of -f. */
const char *name_of(const struct ctl *c);

/* A limiter that a verb visits. */
struct visit {
	const char *name, *path;
	struct flk *f; /* NULL: it can't be opened */
	int error;     /* why */
};

/*
 * Calls `each' for every limiter that the words and -f name; without any, for every limiter of the
 * directory, sorted by name.  `each' returns a status, or a negative code: that is refused, unless
 * --all passes over it.  Returns the largest status.
 */
typedef int each_limiter(const struct ctl *c, const struct visit *v, void *ctx);
int for_each(const struct ctl *c, each_limiter *each, void *ctx);

/* The same for one, by its name or path; SHOWN is what people know it by. */
int visit(const struct ctl *c, const char *name, const char *shown, each_limiter *each, void *ctx);

/* Prints what is wrong with the limiter, and what to do; returns the status to exit with. */
int refuse(const char *name, const char *path, struct flk *f, int code);

/* Prints that it does not exist, and perhaps which was meant; and, if so, that we wait for it. */
void say_absent(const char *name, const char *path, bool waits);

/*
 * As for_each(), for a verb that sleeps in each limiter: if there are several, calls `each' for all
 * of them at the same time, each in a process of its own.
 */
int for_each_at_once(const struct ctl *c, each_limiter *each, void *ctx);

#endif
