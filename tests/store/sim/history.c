/* SPDX-License-Identifier: ISC */
/*
 * history.c - one history from its beginning to its end.
 *
 * When the faults are over, all that still waits must get its turn.  Then one more taker comes, who
 * wants the whole limit: it takes back what the dead have left.  At last the store must be empty.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/batch.h"
#include "protocol/inside.h"
#include "sim.h"
#include "truth.h"

#define BEGINS (1000 * SECOND)
#define SETTLE (35 * SECOND) /* until all that is late has come */
#define LINGER (2 * SECOND)  /* a keeper stays for what it still sends */

struct sim sim;

/* ---- the agenda ---- */

void
later(uint64_t ns, void (*happen)(struct act *act), void *who, unsigned which)
{
	struct act *act = calloc(1, sizeof(*act));

	if (act == NULL)
		abort();
	*act = (struct act){ .happen = happen, .who = who, .which = which };
	heap_put(&sim.agenda, &act->due, true_ns + ns);
}

/* What is due first happens; all messages that are due at one time arrive together. */
static void
next(void)
{
	uint64_t messages = world_due(), acts = heap_due(&sim.agenda);
	struct act *act;

	if (messages <= acts) {
		true_ns = messages > true_ns ? messages : true_ns;
		world_step();
		return;
	}
	true_ns = acts > true_ns ? acts : true_ns;
	act = (struct act *)heap_first(&sim.agenda);
	heap_remove(&sim.agenda, &act->due);
	act->happen(act);
	if (!act->stays)
		free(act);
}

static bool
run_until(uint64_t end_ns, bool (*is_over)(void))
{
	while (sim.broken == NULL && (is_over == NULL || !is_over())) {
		uint64_t messages = world_due(), acts = heap_due(&sim.agenda);

		if ((messages < acts ? messages : acts) > end_ns) {
			true_ns = end_ns > true_ns ? end_ns : true_ns;
			return false;
		}
		next();
		laws_check();
	}
	return true;
}

/* ---- its beginning ---- */

struct machine *
some_machine(void)
{
	return &sim.machine[chance_below(sim.plan.machines)];
}

/* Something has arrived at a client. */
static void
arrived(void *context, struct records *client)
{
	(void)context;
	if (world_tag(client) != NULL)
		machine_wake(world_tag(client));
}

static void
taker_begin(struct taker *t, unsigned number, struct machine *m)
{
	const struct plan *p = &sim.plan;

	t->number = number;
	t->machine = m;
	t->next = m->first;
	m->first = t;
	m->users++;
	t->want = (struct fleet_want){ .weight = 1 + (uint32_t)chance_below(p->heaviest),
				       .limit = p->limit,
				       .fallback = p->limit,
				       .which = p->which,
				       .pace = p->pace,
				       .fair = FLK_FAIR_KEY,
				       .share = 1 + number % 2,
				       .pid = (pid_t)number + 1,
				       .command = "sim" };
	/* Some declare another pace, which is a little slower. */
	if (p->rivals && number % 2 != 0) {
		t->want.pace.interval_ns += p->pace.interval_ns != 0 ? MS : 0;
		t->want.pace.stagger_ns += p->pace.stagger_ns != 0 ? MS : 0;
	}
	if (p->keys > 0)
		snprintf(t->want.key, sizeof(t->want.key), "key %u", number % p->keys);
	if (p->mixed)
		t->want.limit = chance_of(300) ? 0 : 1 + (uint32_t)chance_below(p->limit);
	if (t->want.limit != 0 && t->want.weight > t->want.limit)
		t->want.weight = t->want.limit;
	if (p->hasty && chance_of(300))
		t->want.no_wait = true;
	else if (p->hasty && chance_of(300)) {
		t->want.limit_queue = true;
		t->want.max_queue = (uint32_t)chance_below(3);
	}
}

/* The machines of the plan, then the operator's and the sweeper's. */
static void
populate(void)
{
	const struct plan *p = &sim.plan;
	unsigned i;

	fleet_calls = p->calls != 0 ? p->calls : 8;
	batch_least = p->crowd != 0 ? p->crowd : UINT_MAX;
	sim.machines = p->machines + 2;
	sim.takers = p->takers + 1;
	sim.open = p->takers;
	sim.machine = calloc(sim.machines, sizeof(sim.machine[0]));
	sim.taker = calloc(sim.takers, sizeof(sim.taker[0]));
	sim.holder = calloc(2 * sim.takers, sizeof(struct taker *));
	sim.runner = sim.holder + sim.takers;
	if (sim.machine == NULL || sim.taker == NULL || sim.holder == NULL)
		abort();
	for (i = 0; i < sim.machines; i++) {
		machine_begin(&sim.machine[i], i);
		machine_open(&sim.machine[i]);
	}
	for (i = 0; i < p->takers; i++) {
		taker_begin(&sim.taker[i], i, &sim.machine[i % p->machines]);
		later(chance_below(p->arrive_ns), taker_comes, &sim.taker[i], 0);
	}
	taker_begin(&sim.taker[i], i, &sim.machine[sim.machines - 1]);
	sim.taker[i].want = (struct fleet_want){ .weight = p->limit, .limit = p->limit };
	/* It is to be the last. */
	if (p->keys > 0)
		sim.taker[i].want.which = FLK_SET_FAIR;
}

/* ---- its end ---- */

static bool
none_is_open(void)
{
	return sim.open == 0;
}

/* How long, at most, until all that waits has had its turn. */
static uint64_t
patience(void)
{
	uint64_t life = (sim.plan.ttl_s + sim.plan.grace_s) * SECOND;

	return 3 * life + 60 * SECOND + sim.plan.takers * (life / 2 + 3 * SECOND);
}

static void
sweep(void)
{
	sim.open = 1;
	later(0, taker_comes, &sim.taker[sim.takers - 1], 0);
	if (!run_until(true_ns + patience(), none_is_open))
		breaks(ENDS, "a last taker does not get the whole limit");
}

/* Then nothing may be left but how the limiter is steered. */
static void
leave_empty(void)
{
	unsigned i;

	operators_check();
	run_until(true_ns + LINGER, NULL);
	if (sim.broken == NULL)
		operators_leave();
	for (i = 0; i < sim.machines && sim.broken == NULL; i++)
		machine_free(&sim.machine[i]);
	run_until(true_ns + (sim.plan.ttl_s + sim.plan.grace_s + 40) * SECOND, NULL);
	if (sim.broken == NULL && !truth_is_empty())
		breaks(LEAKS, "the store keeps something, or a lease");
}

static void
live(void)
{
	faults_begin();
	operators_begin();
	run_until(BEGINS + sim.plan.calm_ns, none_is_open);
	sim.calm = true;
	faults_end();
	operators_settle();
	if (!run_until(true_ns + patience(), none_is_open))
		breaks(ENDS, "%u takers have neither ended nor got their turn", sim.open);
	run_until(true_ns + (sim.plan.operators ? 2 : 1) * SETTLE, NULL);
	if (sim.broken == NULL)
		sweep();
	if (sim.broken == NULL)
		leave_empty();
}

static void
clean_up(void)
{
	struct heap_item *item;
	unsigned i;

	for (i = 0; i < sim.machines; i++)
		machine_free(&sim.machine[i]);
	while ((item = heap_first(&sim.agenda)) != NULL) {
		heap_remove(&sim.agenda, item);
		free(item);
	}
	world_close();
	free(sim.machine);
	free(sim.taker);
	free(sim.holder);
}

void
history_run(const struct plan *plan)
{
	struct world_rules rules = error != NULL ? error->rules : (struct world_rules){ 0 };
	struct heap agenda = sim.agenda;
	bool tracing = sim.tracing;

	memset(&sim, 0, sizeof(sim));
	sim.plan = *plan;
	sim.agenda = agenda;
	sim.tracing = tracing;
	sim.override = FLK_AUTO;
	TAILQ_INIT(&sim.line);
	chance_seed(~plan->seed);
	true_ns = BEGINS;
	starts_begin();
	turns_begin();
	rules.arrived = arrived;
	rules.changed = truth_changes;
	rules.takes = faults_takes;
	world_open(&rules, NULL);
	populate();
	live();
	clean_up();
}
