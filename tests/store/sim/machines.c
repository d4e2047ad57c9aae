/* SPDX-License-Identifier: ISC */
/*
 * machines.c - machines and their keepers.  A keeper sleeps until something arrives for its store or
 * the store is due, and then steps it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim.h"

static bool
is_still(const struct machine *m)
{
	return m->store == NULL || m->stopped || m->suspended;
}

/* When its keeper runs next. */
static void
settle(struct machine *m)
{
	uint64_t at;

	if (is_still(m)) {
		heap_remove(&sim.agenda, &m->step.due);
		return;
	}
	at = clock_when(&m->clock, fleet_store_due(m->store));
	heap_put(&sim.agenda, &m->step.due, at > true_ns ? at : true_ns);
}

void
machine_wake(struct machine *m)
{
	if (!is_still(m))
		heap_put(&sim.agenda, &m->step.due, true_ns);
}

static void
step(struct act *act)
{
	struct machine *m = act->who;
	struct taker *t;

	sim.steps++;
	m->steps++;
	law_looks(m);
	running = &m->clock;
	for (t = m->first; t != NULL; t = t->next)
		taker_obey(t);
	fleet_store_step(m->store);
	running = NULL;
	if (m->steps_left > 0 && --m->steps_left == 0) {
		trace("m%u: its keeper is killed", m->number);
		machine_kill(m);
	}
	settle(m);
}

void
machine_begin(struct machine *m, unsigned number)
{
	m->number = number;
	m->step = (struct act){ .happen = step, .who = m, .stays = true };
	snprintf(m->life, sizeof(m->life), "%010llx%06x",
		 (unsigned long long)(chance() & 0xffffffffff), number);
	m->gone_ns = true_ns;
	m->clock.since_ns = true_ns;
	m->clock.showed_ns = SECOND + chance_below(1000000 * SECOND);
	m->clock.ahead_ns = 1700000000 * SECOND + chance_below(1000 * SECOND);
	if (sim.plan.which != 0) /* by clocks that are about right */
		m->clock.ahead_ns =
		    STARTS_REAL + true_ns + chance_below(STARTS_SKEW) - m->clock.showed_ns;
	if (sim.plan.drift)
		m->clock.fast_ppm = (int32_t)chance_below(19000) - 9500;
}

void
machine_open(struct machine *m)
{
	static struct url url;
	struct fleet_options o = { .url = &url,
				   .life = m->life,
				   .heir = m->keepers > 0 && (error == NULL || !error->no_heirs),
				   .ttl_s = sim.plan.ttl_s,
				   .grace_s = sim.plan.grace_s,
				   .manual = sim.plan.manual };
	char why[FLEET_TEXT];

	if (m->store != NULL)
		return;
	m->keepers++;
	if (url.path == NULL && url_parse(&url, "memory://sim/team") != NULL)
		abort();
	running = &m->clock;
	if (fleet_store_open(&m->store, &o, why) != 0 ||
	    (m->fleet = fleet_open(m->store, "sim")) == NULL)
		abort();
	running = NULL;
	m->client = world_newest();
	world_set_tag(m->client, m);
	if (m->cut || faults_server_is_down())
		world_cut(m->client, false, true);
	settle(m);
}

/* For a while; nobody hears of what it does. */
static void
haunt(struct act *act)
{
	struct machine *m = act->who;

	if (m->ghost == NULL)
		return;
	running = &m->clock;
	taker_deafen(true);
	if (act->which > 0)
		fleet_store_step(m->ghost);
	else
		fleet_store_close(m->ghost);
	taker_deafen(false);
	running = NULL;
	if (act->which > 0)
		later(50 * MS, haunt, m, act->which - 1);
	else
		m->ghost = NULL;
}

static void
close_store(struct machine *m)
{
	heap_remove(&sim.agenda, &m->step.due);
	if (error != NULL && error->no_fence && m->stopped && m->ghost == NULL && !sim.calm) {
		m->ghost = m->store;
		later(2 * SECOND, haunt, m, 100);
	} else {
		running = &m->clock;
		fleet_store_close(m->store);
		running = NULL;
	}
	m->store = NULL;
	m->client = NULL;
}

static void
adopt(struct act *act)
{
	struct machine *m = act->who;
	struct taker *t;

	if (m->store == NULL || act->which != m->keepers)
		return;
	if (m->suspended || m->stopped) {
		later(SECOND, adopt, m, m->keepers);
		return;
	}
	running = &m->clock;
	for (t = m->first; t != NULL; t = t->next)
		taker_adopt(t);
	running = NULL;
	settle(m);
}

/* A new taker may come to it before the old ones do. */
static void
succeed(struct act *act)
{
	struct machine *m = act->who;
	struct taker *t;

	if (m->dead || m->store != NULL)
		return;
	if (m->suspended) {
		later(SECOND, succeed, m, 0);
		return;
	}
	trouble(m);
	machine_open(m);
	running = &m->clock;
	for (t = m->first; sim.plan.host && t != NULL; t = t->next)
		taker_restore(t);
	running = NULL;
	machine_wake(m);
	later(chance_below(chance_of(800) ? 2 : 2 * SECOND), adopt, m, m->keepers);
}

void
machine_kill(struct machine *m)
{
	struct taker *t;

	if (m->store != NULL) {
		sim.kills++;
		close_store(m);
	}
	trouble(m);
	m->stopped = false;
	m->steps_left = 0;
	for (t = m->first; t != NULL; t = t->next)
		taker_orphan(t);
	/* A holder waits for nothing; a wrapper may be stopped. */
	if (!m->dead)
		later(chance_below(sim.plan.host || chance_of(800) ? 100 * MS : 20 * SECOND),
		      succeed, m, 0);
}

void
machine_free(struct machine *m)
{
	struct taker *t;

	if (m->store != NULL)
		close_store(m);
	if (m->ghost != NULL)
		haunt(&(struct act){ .who = m });
	for (t = m->first; t != NULL; t = t->next)
		t->kept = NULL;
}
