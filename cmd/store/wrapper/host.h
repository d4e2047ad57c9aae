/* SPDX-License-Identifier: ISC */
/*
 * host.h - the keeper that wrappers share: how a wrapper finds it, or starts it, and sees that it lives.
 * link.c calls these under its lock.
 */
#ifndef HOST_H
#define HOST_H

#include <stdint.h>

struct board;
struct tie;

/* A control socket to the keeper, which is started if there is none: 0, or a negative code. */
int host_join(int *control);

/* Maps the board of that file: 0; -ENOENT: it is not there yet; or another code. */
int host_map(int file, struct board **board);

/* A cell on its board, unless the tie has one there: 0, or a negative code. */
int host_take_cell(struct tie *tie);

/*
 * Kills a keeper that has not run for most of the ttl, and its deputy: their sockets end then, and so
 * another takes over.  The deputy alone should have done so: it has stopped, too, as in a cgroup that is
 * frozen.  Returns when to look again (CLOCK_MONOTONIC); with a keeper of our own, never.
 */
uint64_t host_look(void);

#endif
