/* SPDX-License-Identifier: ISC */
#include "cpus.h"

#include "flocklimit.h"

bool
cpus_read(pid_t tid, struct cpus *c)
{
	return sched_getaffinity(tid, CPUS_SIZE, c->of) == 0;
}

void
cpus_of_seats(const struct cpus *usable, uint64_t seats, struct cpus *to)
{
	unsigned cpu, seat = 0;

	CPU_ZERO_S(CPUS_SIZE, to->of);
	for (cpu = 0; cpu < CPUS_SIZE * 8 && seat < FLK_SEATS; cpu++) {
		if (!CPU_ISSET_S(cpu, CPUS_SIZE, usable->of))
			continue;
		if ((seats >> seat & 1) != 0)
			CPU_SET_S(cpu, CPUS_SIZE, to->of);
		seat++;
	}
}

void
cpus_of_task(const struct cpus *now, const struct cpus *was, const struct cpus *set,
	     const struct cpus *allowed, struct cpus *to)
{
	struct cpus all;

	CPU_AND_S(CPUS_SIZE, all.of, set->of, allowed->of);
	if (cpus_count(&all) == 0)
		all = *set;
	CPU_AND_S(CPUS_SIZE, to->of, now->of, all.of);
	if (cpus_are_same(now, was) || cpus_count(to) == 0)
		*to = all;
}
