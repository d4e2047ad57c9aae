/* SPDX-License-Identifier: ISC */
/*
 * link.h - how a wrapper has a keeper: it is forked when it is first needed, and another one if
 * it dies.
 */
#ifndef LINK_H
#define LINK_H

#include <stdatomic.h>
#include <stdint.h>

/* A taker's tie to the keeper; its owner's alone. */
struct tie {
	int socket;          /* -1: none yet */
	unsigned generation; /* of the keeper at its other end; 0: none */
	uint32_t cell;       /* on the board */
};

#define TIE_NONE ((struct tie){ .socket = -1 })

/* Forks the first keeper.  A program that is about to have threads calls it. */
void link_begin(void);

/*
 * A tie to a keeper that is not known to be dead: 0, or a negative code.  A tie that there is
 * already is taken for torn: what its socket said must have been -EPIPE.
 */
int link_tie(struct tie *tie, const char *limiter);

void link_untie(struct tie *tie);

/* When what last proved this tie's taker alive to the store was sent: CLOCK_BOOTTIME, ns. */
uint64_t link_alive_ns(const struct tie *tie);

/* The keeper lets go of all that is the caller's. */
void link_hush(void);

/*
 * The board: memory that the wrapper shares with its keepers, with a cell for each taker.  The keeper
 * writes there when the permit was last confirmed, and the wrapper reads it: the wrapper must know the
 * permit's last moment even when the keeper is stopped, and need not be woken by each renewal.
 */
extern _Atomic uint64_t *link_board_ns;

#endif
