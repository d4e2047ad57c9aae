/*
 * limiter.h - from what was asked for to an open limiter, or to a line about why not.
 */
#ifndef LIMITER_H
#define LIMITER_H

#include <limits.h>

#include "flocklimit.h"
#include "want.h"

#define LIMITER_NAME (PATH_MAX + 2)

/* What flk_attach() is to be given, also by a command further down, in another directory. */
int limiter_name(const struct want *w, char name[LIMITER_NAME]);

/* What a command is told of it: that name or path, or for a limiter of a store its URL. */
const char *limiter_told(const char *name, char room[LIMITER_NAME]);

/* Tells the limiter of the pace, unless it is so already: 0, or a negative code. */
int limiter_set_pace(const struct want *w, struct flk *limiter);

/*
 * A permit is joined: says which of -n and -w were given and have no effect.  A number that is the
 * permit's own holds as it is.
 */
void limiter_joined(const struct want *w, const struct flk_permit *permit);

/*
 * What to say of a limiter's file is known by its path; what to do about it, by the code.
 * f may be NULL.  Returns the status to exit with.
 */
int limiter_refuse(const struct want *w, const char *name, struct flk *f, int code);

#endif
