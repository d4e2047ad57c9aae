/* SPDX-License-Identifier: ISC */
/*
 * faults.c - what goes wrong: messages, machines, the server.
 */
#include "sim.h"
#include "truth.h"

#define LATE (30 * SECOND) /* a slow message is, at most */

void
trouble(struct machine *m)
{
	unsigned i;

	sim.trouble_ns = true_ns;
	if (m != NULL) {
		m->trouble_ns = true_ns;
		return;
	}
	for (i = 0; i < sim.machines; i++)
		sim.machine[i].trouble_ns = true_ns;
}

/* ---- messages ---- */

uint64_t
faults_takes(void *context, const struct records *client, enum leg leg)
{
	struct machine *m = world_tag(client);
	bool goes_wrong = !sim.calm && m->number < sim.plan.machines;

	(void)context;
	(void)leg;
	if (goes_wrong && chance_of(sim.plan.loss)) {
		trouble(m);
		return NEVER;
	}
	if (goes_wrong && chance_of(sim.plan.slow)) {
		trouble(m);
		return chance_below(LATE);
	}
	return MS / 5 + chance_below(sim.plan.delay_ns);
}

/* ---- machines ---- */

/* Mostly a few seconds, sometimes longer than a dead taker keeps its permit. */
static uint64_t
some_time(void)
{
	uint64_t life = (sim.plan.ttl_s + sim.plan.grace_s) * SECOND;

	return chance_below(chance_of(700) ? life / 2 : 3 * life);
}

static bool is_down, is_stalled;

static void
joins(struct machine *m)
{
	trouble(m);
	m->cut = false;
	if (m->client != NULL && !is_down)
		world_join(m->client);
}

static void
cut_ends(struct act *act)
{
	struct machine *m = act->who;

	if (!m->cut)
		return;
	trace("m%u: is joined again", m->number);
	joins(m);
}

static void
cut(struct machine *m)
{
	bool late = chance_of(500), told = chance_of(500);

	if (m->cut)
		return;
	trace("m%u: is cut off%s%s", m->number, late ? ", what it has sent is late" : "",
	      told ? ", its calls fail" : "");
	m->cut = true;
	if (m->client != NULL)
		world_cut(m->client, late, told);
	later(some_time(), cut_ends, m, 0);
}

static void
goes_on(struct act *act)
{
	struct machine *m = act->who;
	struct taker *t;

	if (!m->stopped && !m->suspended)
		return;
	trace("m%u: goes on", m->number);
	trouble(m);
	if (m->clock.stands)
		clock_set(&m->clock, m->clock.fast_ppm, false);
	m->stopped = m->suspended = false;
	machine_wake(m);
	for (t = m->first; t != NULL; t = t->next)
		if (taker_runs(t))
			law_runs(t);
}

/* By its deputy. */
static void
is_replaced(struct act *act)
{
	struct machine *m = act->who;

	if (!m->stopped || m->suspended || m->store == NULL || act->which != m->keepers)
		return;
	trace("m%u: its keeper was stopped for too long", m->number);
	machine_kill(m);
}

static void
stop(struct machine *m, bool suspended)
{
	if (m->stopped || m->suspended || m->store == NULL)
		return;
	trace("m%u: %s", m->number, suspended ? "is suspended" : "its keeper is stopped");
	m->stopped = true;
	m->suspended = suspended;
	if (suspended && error != NULL && error->sleepy_clock)
		clock_set(&m->clock, m->clock.fast_ppm, true);
	heap_remove(&sim.agenda, &m->step.due);
	later(some_time(), goes_on, m, 0);
	if (sim.plan.host && !suspended)
		later(sim.plan.ttl_s * SECOND / 3, is_replaced, m, m->keepers);
}

static void
dies(struct machine *m)
{
	if (m->dead)
		return;
	trace("m%u: dies", m->number);
	m->dead = true;
	machine_kill(m);
}

/* ---- the server ---- */

static void
stall_ends(struct act *act)
{
	(void)act;
	if (!is_stalled)
		return;
	trace("the server goes on");
	trouble(NULL);
	is_stalled = false;
	world_go_on();
}

static void
comes_up(struct act *act)
{
	unsigned i;

	(void)act;
	if (!is_down)
		return;
	trace("the server is up");
	is_down = false;
	if (error != NULL && error->falls_back)
		memory_fall_back(world_memory(), 5);
	world_up();
	for (i = 0; i < sim.machines; i++)
		if (!sim.machine[i].cut)
			joins(&sim.machine[i]);
}

static void
server_fails(bool restarts)
{
	bool told = chance_of(500);
	unsigned i;

	if (is_down || is_stalled)
		return;
	trace("the server is %s", restarts ? "down" : "stopped");
	if (!restarts) {
		is_stalled = true;
		world_stop();
		later(some_time(), stall_ends, NULL, 0);
		return;
	}
	is_down = true;
	world_down();
	for (i = 0; i < sim.machines; i++)
		if (sim.machine[i].client != NULL)
			world_cut(sim.machine[i].client, false, told);
	later(some_time(), comes_up, NULL, 0);
}

/*
 * The server ends a lease that is renewed, though it is.  That of a grace, which is not, it ends in
 * time: if it did not, and the holder's lease had ended early, too, nothing could be promised.
 */
static void
ends_early(void)
{
	const struct memory_record *r =
	    memory_at(world_memory(), chance_below(1 + memory_from(world_memory(), "~")));

	if (r != NULL && r->kv.lease != 0 && key_kind(r->kv.key) != GRACE)
		world_end_lease(r->kv.lease);
}

/* ---- all ---- */

bool
faults_server_is_down(void)
{
	return is_down;
}

static void
do_fault(enum fault fault)
{
	struct machine *m = some_machine();

	if (!sim.plan.faults[fault])
		return;
	trouble(fault >= STALLS && fault != WRAPPERS ? NULL : m);
	switch (fault) {
	case CUTS:
		cut(m);
		break;
	case STOPS:
	case SLEEPS:
		stop(m, fault == SLEEPS);
		break;
	case KILLS:
		m->steps_left = 1 + (unsigned)chance_below(20);
		break;
	case DEATHS:
		if (chance_of(300))
			dies(m);
		break;
	case STALLS:
	case RESTARTS:
		server_fails(fault == RESTARTS);
		break;
	case EARLY:
		ends_early();
		break;
	case WRAPPERS:
		if (m->first != NULL)
			taker_bereave(m->first);
		break;
	case FORGETS:
		memory_compact(world_memory(),
			       memory_revision(world_memory()) + 1 - (int64_t)chance_below(5));
		break;
	default:
		break;
	}
}

static void
happen(struct act *act)
{
	int tries;

	(void)act;
	if (sim.calm)
		return;
	for (tries = 0; tries < 3; tries++)
		do_fault((enum fault)chance_below(FAULTS));
	later(chance_below(2 * sim.plan.fault_ns), happen, NULL, 0);
}

void
faults_begin(void)
{
	is_down = is_stalled = false;
	later(chance_below(2 * sim.plan.fault_ns), happen, NULL, 0);
}

void
faults_end(void)
{
	unsigned i;

	trace("the faults end");
	comes_up(NULL);
	stall_ends(NULL);
	for (i = 0; i < sim.machines; i++) {
		struct machine *m = &sim.machine[i];

		m->steps_left = 0;
		if (m->cut)
			joins(m);
		if (m->stopped || m->suspended)
			goes_on(&m->step);
	}
}
