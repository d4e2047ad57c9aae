/* SPDX-License-Identifier: ISC */
/*
 * start.h - how a wrapper starts a keeper: by a fork of itself (start.c), or, where the wrapper is a program
 * of its own, by the store's program (light/start.c).
 */
#ifndef START_H
#define START_H

#include <stdbool.h>
#include <sys/types.h>

struct meeting;

/* Of a keeper of one's own. */
struct start {
	pid_t owner;      /* the wrapper */
	const char *life; /* of all its keepers */
	bool again;       /* it is not the first */
	bool hushed;
};

/* One that has that end of a pair of sockets: 0, or a negative code. */
int start_own(int theirs, const struct start *s);

/* The host's, with its deputy, if nobody else has started them meanwhile: 0, or a negative code. */
int start_host(const struct meeting *m);

#endif
