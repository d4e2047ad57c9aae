/* SPDX-License-Identifier: ISC */
/*
 * parked.h - what the kernel says of a process that waits.
 */
#ifndef BENCH_PARKED_H
#define BENCH_PARKED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Returns when the process (or thread) sleeps where those sleep that wait for a lock or a
 * futex, and has not run between two looks.  Dies when that takes too long.
 */
void parked_wait(pid_t pid, const char *label);

/* Looks at the place alone: for one that is about to sleep there and nowhere else. */
void parked_wait_there(pid_t pid);

struct use {
	uint64_t cpu_ns, switches;
	uint64_t pss_kb, private_kb;
};

void parked_cpu(pid_t pid, struct use *use);    /* adds to cpu_ns and switches */
void parked_memory(pid_t pid, struct use *use); /* adds to pss_kb and private_kb */

#endif
