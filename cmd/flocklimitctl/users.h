/* SPDX-License-Identifier: ISC */
/*
 * users.h - the limiters of other users, which are only looked at.
 */
#ifndef USERS_H
#define USERS_H

#include "limiters.h"

struct ctl;

/* Finds the directory of --user: -1; or the status to exit with, after a line. */
int users_find(struct ctl *c);

/* Whether the limiters that the command line means may be another user's. */
bool users_are_others(const struct ctl *c);

/* As for_each() without words, for --users and --user. */
int users_visit(const struct ctl *c, each_limiter *each, void *ctx);

#endif
