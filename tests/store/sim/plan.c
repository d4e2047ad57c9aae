/* SPDX-License-Identifier: ISC */
/*
 * plan.c - what a history is like.  Most are short: a few takers, and much that goes wrong.
 */
#include "sim.h"

static uint64_t
between(uint64_t least, uint64_t most)
{
	return least + chance_below(most - least + 1);
}

/* The store ends leases early: then nothing else goes wrong, or the limit could not be promised. */
static void
plan_early(struct plan *p)
{
	int i;

	for (i = 0; i < FAULTS; i++)
		p->faults[i] = i == EARLY || i == FORGETS;
	p->loss = p->slow = 0;
}

static void
plan_faults(struct plan *p)
{
	int i;

	p->loss = chance_of(300) ? (unsigned)between(5, 100) : 0;
	p->slow = chance_of(300) ? (unsigned)between(5, 100) : 0;
	for (i = 0; i < FAULTS; i++)
		p->faults[i] = chance_of(i == FORGETS ? 100 : 300);
	p->faults[WRAPPERS] = false;
	p->faults[EARLY] = false;
	if (chance_of(100))
		plan_early(p);
}

static void
plan_pace(struct plan *p)
{
	p->which = (unsigned)between(1, FLK_SET_PACE);
	p->rivals = chance_of(300);
	if ((p->which & FLK_SET_RATE) != 0) {
		p->pace.interval_ns = between(100, 2000) * MS;
		p->pace.burst = (uint32_t)between(1, 3);
	}
	if ((p->which & FLK_SET_STAGGER) != 0)
		p->pace.stagger_ns = between(50, 1000) * MS;
	if ((p->which & FLK_SET_RAMP) != 0) {
		p->pace.ramp_from = p->pace.ramp_step = 1;
		p->pace.ramp_period_ns = between(1, 3) * SECOND;
		p->pace.ramp_idle_ns = between(1, 10) * SECOND;
	}
}

/* Of a crowd in which nothing goes wrong, what is free goes to the next at once. */
static void
plan_crowd(struct plan *p)
{
	int i;

	for (i = 0; i < FAULTS; i++)
		p->faults[i] = false;
	p->loss = p->slow = 0;
	p->mixed = p->hasty = p->operators = p->manual = p->host = false;
	p->takers = p->machines = 20;
	p->arrive_ns = 3 * SECOND;
	p->hold_ns = between(20, 100) * MS;
}

static void
plan_turns(struct plan *p)
{
	p->which |= FLK_SET_FAIR;
	p->keys = (unsigned)between(1, 4);
	if (chance_of(200))
		plan_crowd(p);
}

struct plan
plan_of(uint64_t seed)
{
	struct plan p = { .seed = seed };

	chance_seed(seed);
	p.takers = (unsigned)between(2, 6);
	p.machines = (unsigned)between(p.takers / 2, p.takers);
	p.limit = chance_of(400) ? 1 : (uint32_t)between(2, 4);
	p.heaviest = (uint32_t)between(1, p.limit);
	p.ttl_s = chance_of(500) ? 2 : (uint32_t)between(2, 10);
	p.grace_s = expiry_least_grace(p.ttl_s) + (uint32_t)chance_below(3);
	p.mixed = chance_of(200);
	p.hasty = chance_of(200);
	p.leavers = chance_of(300);
	p.manual = chance_of(50);
	p.operators = chance_of(250);
	p.drift = chance_of(300);
	p.delay_ns = chance_of(500) ? 5 * MS : between(1, 200) * MS;
	p.arrive_ns = between(1, 5000) * MS;
	p.hold_ns = chance_of(400) ? between(5, 40) * SECOND : between(10, 5000) * MS;
	p.calm_ns = between(5, 90) * SECOND;
	p.fault_ns = between(200, 3000) * MS;
	plan_faults(&p);
	p.host = chance_of(500);
	p.calls = chance_of(300) ? (unsigned)between(1, 2) : 8;
	p.crowd = chance_of(400) ? (unsigned)between(1, 3) : 0;
	if (chance_of(150))
		plan_pace(&p);
	if (chance_of(150))
		plan_turns(&p);
	p.faults[WRAPPERS] = p.host && !p.faults[EARLY] && chance_of(500);
	return p;
}

/* A crowd, of which a few die. */
struct plan
plan_of_many(uint64_t seed, unsigned takers)
{
	chance_seed(seed);
	return (struct plan){ .seed = seed,
			      .takers = takers,
			      .machines = takers,
			      .limit = 100,
			      .heaviest = 1,
			      .ttl_s = 10,
			      .grace_s = expiry_least_grace(10),
			      .delay_ns = 2 * MS,
			      .arrive_ns = 10 * SECOND,
			      .hold_ns = 200 * MS,
			      .calm_ns = 20 * SECOND,
			      .fault_ns = SECOND,
			      .faults = { [KILLS] = true, [CUTS] = true } };
}
