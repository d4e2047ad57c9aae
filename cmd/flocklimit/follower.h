/* SPDX-License-Identifier: ISC */
/*
 * follower.h - a child process that follows the history of a limiter.
 */
#ifndef FOLLOWER_H
#define FOLLOWER_H

#include <sys/types.h>

struct flk;

/* Its pid, or -1.  It sends us SIGIO with this value for news, and ends with us. */
pid_t follower_start(struct flk *limiter, void *value);

#endif
