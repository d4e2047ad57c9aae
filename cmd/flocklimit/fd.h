/* SPDX-License-Identifier: ISC */
/*
 * fd.h - a permit for a descriptor that our caller has open, as `flock 9' locks one: --fd.
 */
#ifndef FD_H
#define FD_H

#include "flocklimit.h"
#include "limiter.h"
#include "options.h"

/*
 * Finds out which limiter the descriptor is open on, unless -N or -f says it.  Returns -1, or the
 * status to exit with, after a line.  `room' is for the name, and must last as long as `o'.
 */
int fd_find(struct options *o, char room[LIMITER_NAME]);

/*
 * Whether the descriptor has a permit already: 0, after a line if -n or -w has no effect then;
 * -FLK_NOPERMIT; or another code.
 */
int fd_holds(const struct options *o, struct flk *limiter, struct flk_permit *permit);

/* Hands the taker's permit over to the descriptor: 0, or a code. */
int fd_entrust(const struct options *o, struct flk_taker *t);

/* Gives the descriptor's permit back.  Returns the exit status. */
int fd_unlock(const struct options *o, const char *path);

/* True, after a line, if the code is about the descriptor. */
bool fd_refuse(const struct options *o, int code);

#endif
