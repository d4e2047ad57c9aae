/* SPDX-License-Identifier: ISC */
/*
 * link.h - how a wrapper gets a keeper: it forks one when it first needs one, and another if that
 * one dies; or it shares that of its host (host.h).
 */
#ifndef LINK_H
#define LINK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* A taker's tie to the keeper; only its owner uses it. */
struct tie {
	int socket;          /* -1: none yet */
	unsigned generation; /* of the keeper at its other end; 0: none */
	uint32_t cell;       /* on the board */
	int board;           /* of a host: the board, by which it has the cell; or -1 */
	_Atomic uint64_t *alive_ns;
};

#define TIE_NONE ((struct tie){ .socket = -1, .board = -1 })

/* Starts the first keeper: false, if that failed.  A program calls it before it has threads. */
bool link_begin(void);

/*
 * Makes a tie to a keeper that is not known to be dead: 0, or a negative code.  An existing tie is
 * assumed broken: its socket must have returned -EPIPE.
 */
int link_tie(struct tie *tie, const char *limiter);

void link_untie(struct tie *tie);

/* In a child, which must not keep open what is its parent's. */
void link_forget(struct tie *tie);

/* The keeper closes all that is the caller's. */
void link_hush(void);

#endif
