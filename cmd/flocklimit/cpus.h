/* SPDX-License-Identifier: ISC */
/*
 * cpus.h - sets of CPUs, and on which of them a task of a pinned command is to run.
 */
#ifndef CPUS_H
#define CPUS_H

#include <sched.h>
#include <stdbool.h>
#include <stdint.h>

/* The kernel refuses a set with less room than it could have CPUs. */
struct cpus {
	cpu_set_t of[64];
};
#define CPUS_SIZE sizeof(struct cpus)

static inline uint32_t
cpus_count(const struct cpus *c)
{
	return (uint32_t)CPU_COUNT_S(CPUS_SIZE, c->of);
}

static inline bool
cpus_are_same(const struct cpus *a, const struct cpus *b)
{
	return CPU_EQUAL_S(CPUS_SIZE, a->of, b->of);
}

static inline bool
cpus_are_within(const struct cpus *a, const struct cpus *b)
{
	struct cpus both;

	CPU_AND_S(CPUS_SIZE, both.of, a->of, b->of);
	return cpus_are_same(&both, a);
}

/* Of task tid, 0: of this one.  False: it can't be known, as errno says. */
bool cpus_read(pid_t tid, struct cpus *c);

/* The CPUs of these seats: seat 0 is the first of `usable'.  A seat above them is no CPU. */
void cpus_of_seats(const struct cpus *usable, uint64_t seats, struct cpus *to);

/*
 * Where a task is to run that runs on `now', when its command, which had `was', gets `set'.  One that has
 * exactly what the command had did not choose, and gets all; one that chose fewer keeps those that are
 * left of them, if any are.  Another flocklimit --pin around us may have left us `allowed' alone.
 */
void cpus_of_task(const struct cpus *now, const struct cpus *was, const struct cpus *set,
		  const struct cpus *allowed, struct cpus *to);

#endif
