/* SPDX-License-Identifier: ISC */
/*
 * mark.h - what the commands under measurement write down, in one file that all of them map.
 */
#ifndef BENCH_MARK_H
#define BENCH_MARK_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#define MARKS 5001

struct mark {
	uint64_t start, end; /* CLOCK_MONOTONIC, ns: the first statement of main, and the last */
	uint64_t ticket;     /* 0: none was in the environment */
};

struct marks {
	_Atomic uint32_t held;    /* a futex: the holder runs */
	_Atomic uint32_t release; /* a futex: the holder may end */
	_Atomic uint32_t done;    /* a futex, woken when all have been */
	uint32_t all;
	struct mark at[MARKS];
};

#endif
