/* SPDX-License-Identifier: ISC */
/*
 * ring.h - a permit that goes round among members, of which one holds it and all others are
 * parked: the time from giving it back to the next one's running.
 *
 * Each member, when it gets the permit, writes the time down, waits until the one before it is
 * parked again, and gives it on.  So the line always has the same length, and nobody but the two
 * who are concerned does anything.
 */
#ifndef BENCH_RING_H
#define BENCH_RING_H

#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "samples.h"

#define RING_HOPS 4000

struct ring;

struct ring_member {
	struct ring *ring;
	int index;
	_Atomic pid_t tid;
	_Atomic bool in_line;
	sem_t turn; /* of the semaphores' ring */
};

struct ring {
	bool semaphores; /* one for each member, in the manner of named ones; else a limiter */
	bool threads;    /* else processes */
	int members, hops;
	char path[512];
	struct flk *limiter; /* the threads' */
	_Atomic int previous;
	_Atomic bool go, stop;
	_Atomic uint64_t given; /* when, in ns */
	_Atomic int hop;
	double waited[RING_HOPS], giving[RING_HOPS]; /* ns; giving: in the releasing call */
	struct ring_member member[];
};

/* hand_over: us from release to running; release: ns in the call that gives it back. */
void ring_measure(bool semaphores, bool threads, int waiting, int hops, struct samples *hand_over,
		  struct samples *release);

#endif
