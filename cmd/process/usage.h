/* SPDX-License-Identifier: ISC */
/*
 * usage.h - what a command took, as the kernel reports it to the parent that waits for it.
 */
#ifndef USAGE_H
#define USAGE_H

#include <stdint.h>
#include <sys/resource.h>

#include "flocklimit.h"

/* memory: the peak of the largest of its processes, in bytes; 0: not known. */
struct usage {
	uint64_t memory, cpu_ns;
};

static inline uint64_t
usage_ns(struct timeval t)
{
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_usec * 1000;
}

/* Adds one run of the command. */
static inline void
usage_add(struct usage *u, const struct rusage *r)
{
	uint64_t memory = (uint64_t)r->ru_maxrss * 1024;

	u->memory = memory > u->memory ? memory : u->memory;
	u->cpu_ns += usage_ns(r->ru_utime) + usage_ns(r->ru_stime);
}

/* Records in the history how the command under the permit ended, and what it took. */
static inline void
usage_record(struct flk_taker *taker, int status, const struct usage *u)
{
	flk_ended(taker, status);
	flk_took(taker, u->memory, u->cpu_ns);
}

#endif
