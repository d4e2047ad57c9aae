/* SPDX-License-Identifier: ISC */
/*
 * laws.c - what must be so, whatever fails: judged from outside, by what takers were told and by the
 * store's records.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "sim.h"
#include "truth.h"

#define AT_ONCE    (3 * SECOND)  /* "without delay", over a network */
#define LOOK_AGAIN (40 * SECOND) /* after a fault, a waiter may look as late as this */

unsigned wanted_law = LAWS;

void
breaks(unsigned law, const char *words, ...)
{
	va_list args;

	/* Of an error, the law that must find it has to: others may, too. */
	if (sim.broken != NULL || (wanted_law < LAWS && law != wanted_law))
		return;
	va_start(args, words);
	vsnprintf(sim.why, sizeof(sim.why), words, args);
	va_end(args);
	sim.broken = &laws[law];
	trace("BREAKS the law %s: %s", sim.broken->name, sim.why);
}

/* ---- when the store grants ---- */

/* The store's own count, which no clock and no lease can excuse. */
static void
store_over(const struct taker *t)
{
	uint32_t least = UINT32_MAX;
	unsigned i;

	if (sim.overridden || sim.holders < 2)
		return;
	for (i = 0; i < sim.holders; i++)
		if (sim.holder[i]->want.limit != 0 && sim.holder[i]->want.limit < least)
			least = sim.holder[i]->want.limit;
	if (sim.used > least)
		breaks(STORE_OVER, "t%u is granted: %llu of %u are held", t->number,
		       (unsigned long long)sim.used, least);
}

static void
in_order(const struct taker *t)
{
	const struct taker *head = TAILQ_FIRST(&sim.line);

	if (head != NULL && head->place < t->permit && sim.plan.keys == 0)
		breaks(ORDER, "t%u with ticket %lld is granted before t%u with ticket %lld",
		       t->number, (long long)t->permit, head->number, (long long)head->place);
}

void
law_committed(struct taker *const *granted, size_t n)
{
	int64_t highest = sim.granted;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct taker *t = granted[i];

		if (t->permit <= sim.granted && sim.plan.keys == 0)
			breaks(FENCE, "t%u is granted ticket %lld after ticket %lld", t->number,
			       (long long)t->permit, (long long)sim.granted);
		if (t->place != 0)
			breaks(ONCE, "t%u holds, and waits, too", t->number);
		if (sim.shut && !sim.unsure)
			breaks(STEERED, "t%u is granted while the limiter is paused or closed",
			       t->number);
		store_over(t);
		in_order(t);
		highest = t->permit > highest ? t->permit : highest;
	}
	sim.granted = highest;
	sim.followable += sim.followed ? n : 0;
}

/* ---- when a taker is told so ---- */

void
law_runs(struct taker *t)
{
	const struct taker *last = t, *same = NULL;
	uint64_t used = 0;
	uint32_t least = UINT32_MAX;
	unsigned i, n = 0;

	for (i = 0; i < sim.runners; i++) {
		struct taker *other = sim.runner[i];

		if (other->stage != RUNS)
			continue;
		sim.runner[n++] = other;
		if (!taker_runs(other))
			continue;
		used += other->want.weight;
		last = other->granted_ns > last->granted_ns ? other : last;
		least = other->under < least ? other->under : least;
		same = other != t && other->seat == t->seat ? other : same;
	}
	sim.runners = n;
	/* What the last one was granted under is the limit in force for all. */
	least = sim.overridden ? last->under : least;
	if (used > least && used > t->want.weight)
		breaks(NEVER_OVER, "t%u runs, and %llu of %u do", t->number,
		       (unsigned long long)used, least);
	if (same != NULL)
		breaks(SEATS, "t%u and t%u have seat %u", same->number, t->number, t->seat);
}

void
law_granted(struct taker *t, const struct fleet_event *e)
{
	if (t->granted == 0 || (int64_t)e->ticket != t->granted)
		breaks(TOLD, "t%u is told of ticket %llu, and the store granted %lld", t->number,
		       (unsigned long long)e->ticket, (long long)t->granted);
	if (e->weight != t->want.weight)
		breaks(TOLD, "t%u is told of weight %u", t->number, e->weight);
	if (t->override >= 0 && t->under > (uint64_t)t->override)
		breaks(STEERED, "t%u holds under %u, and the override is %lld", t->number, t->under,
		       (long long)t->override);
	sim.runner[sim.runners++] = t;
	if (taker_runs(t))
		law_runs(t);
}

/* What a dead machine has sent may still come: nobody knows that it is dead. */
void
law_ghost(const struct taker *t, const char *key)
{
	if (!t->machine->dead)
		breaks(GHOSTS, "t%u has ended, or has another name, and the store puts %s",
		       t->number, strrchr(key, '/') - 1);
}

/* ---- when the store takes something away ---- */

/* How long the store has not had its keeper's life, in seconds. */
static double
silence(const struct taker *t)
{
	return t->machine->gone_ns == 0 ? 0 : (double)(true_ns - t->machine->gone_ns) / 1e9;
}

/* Clocks may differ by a hundredth each way. */
static bool
is_forsaken(const struct taker *t)
{
	return silence(t) >= sim.plan.grace_s * 0.98;
}

void
law_unheld(const struct taker *t)
{
	uint64_t kept = (sim.plan.ttl_s + sim.plan.grace_s) * SECOND * 98 / 100;

	if (t->stage != RUNS || t->broken)
		return;
	if (!is_forsaken(t))
		breaks(KEPT, "the permit of t%u is taken back %.1f s after its keeper's life",
		       t->number, silence(t));
	if (sim.plan.faults[EARLY])
		return;
	if (clock_shows(&t->machine->clock) < t->expiry.alive_ns + kept)
		breaks(KEPT, "the permit of t%u is taken back %.1f s after a sign of life",
		       t->number,
		       (double)(clock_shows(&t->machine->clock) - t->expiry.alive_ns) / 1e9);
}

void
law_unplaced(const struct taker *t)
{
	if ((t->stage != WAITING && t->stage != ENTERING) || t->cancelled || sim.closed ||
	    t->want.limit_queue || is_forsaken(t))
		return;
	breaks(PLACES, "t%u loses its place %.1f s after its keeper's life", t->number, silence(t));
}

/* ---- after every step ---- */

/* Whoever makes room grants, but for an operator, and if nothing is lost. */
static bool
is_passed_on(void)
{
	return sim.trouble_ns == 0 && !sim.plan.operators && !sim.plan.manual;
}

static void
idle(void)
{
	const struct taker *head = truth_next();
	const struct machine *m;
	uint64_t since = sim.idle_ns, calm;

	if (since == 0 || head == NULL)
		return;
	m = head->machine;
	if (m->store == NULL || m->cut || m->stopped || sim.steered)
		return;
	calm = sim.trouble_ns + (sim.plan.ttl_s + sim.plan.grace_s) * SECOND + LOOK_AGAIN;
	if (sim.trouble_ns != 0 && calm > since)
		since = calm;
	if (true_ns > since + (is_passed_on() ? SECOND / 2 + 6 * sim.plan.delay_ns : AT_ONCE))
		breaks(IDLE, "t%u is the next and fits, and is not granted for %.1f s",
		       head->number, (double)(true_ns - sim.idle_ns) / 1e9);
}

/*
 * Where nothing is late, a waiter that has come to rest needs to read nothing: the news of its permit is all,
 * and takes one way.  The first in the line looks by itself after a while, by a pace at once, and may be about
 * to grant.
 */
static uint64_t
news_take(const struct taker *t)
{
	const struct plan *p = &sim.plan;

	if ((p->which & FLK_SET_PACE) != 0 || sim.trouble_ns != 0 || p->loss != 0 || p->slow != 0 ||
	    p->operators || p->delay_ns > 20 * MS || t->placed_ns == 0 ||
	    t->granted_ns < t->placed_ns + SECOND / 2 || t->granted_ns > t->first_ns + SECOND / 2)
		return AT_ONCE;
	return p->delay_ns + 2 * MS;
}

/* Of all that hold by the store. */
static void
prompt(void)
{
	uint64_t calm = (sim.plan.ttl_s + sim.plan.grace_s) * SECOND + LOOK_AGAIN, since;
	unsigned i;

	for (i = 0; i < sim.holders; i++) {
		const struct taker *t = sim.holder[i];
		const struct machine *m = t->machine;

		if ((t->stage != WAITING && t->stage != ENTERING) || m->store == NULL || m->cut ||
		    m->stopped)
			continue;
		since = t->granted_ns;
		if (m->trouble_ns != 0 && m->trouble_ns + calm > since)
			since = m->trouble_ns + calm;
		if (true_ns > since + news_take(t))
			breaks(PROMPT, "t%u is granted, and is not told for %.1f s", t->number,
			       (double)(true_ns - t->granted_ns) / 1e9);
	}
}

static uint64_t
latest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A repairer has the grace twice: it may have to read the mark again when the first is over. */
static void
cleared(void)
{
	uint64_t most = (sim.plan.ttl_s + 2 * (sim.plan.grace_s + 1)) * SECOND + LOOK_AGAIN, since;
	const struct taker *dead, *next;

	TAILQ_FOREACH(dead, &sim.line, in_line) {
		const struct machine *m;

		if (dead->machine->gone_ns == 0 || (next = TAILQ_NEXT(dead, in_line)) == NULL)
			continue;
		m = next->machine;
		if (m->store == NULL || m->cut || m->stopped || m->gone_ns != 0)
			continue;
		since = latest(dead->machine->gone_ns, latest(m->trouble_ns, next->placed_ns));
		if (true_ns > since + most)
			breaks(CLEARED, "t%u is dead, and stands before t%u for %.1f s",
			       dead->number, next->number, (double)(true_ns - since) / 1e9);
	}
}

/*
 * Where nothing goes wrong, each taker renews three times in its ttl, and has little else to do; but the
 * first in the line hears of all that come, and of what their starts and turns put.
 */
void
law_looks(const struct machine *m)
{
	uint64_t s = true_ns / SECOND - 1000, most = 300 + 20 * s;

	if (sim.trouble_ns == 0 && !sim.plan.operators)
		most =
		    30 + (sim.plan.which == 0 ? 3 : 8) * sim.takers + s * (10 / sim.plan.ttl_s + 1);
	if (m->steps > most * (m->users > 0 ? m->users : 1))
		breaks(BUSY, "the keeper of m%u has looked %llu times", m->number,
		       (unsigned long long)m->steps);
}

const struct law laws[] = {
	[NEVER_OVER] = { "never-over", "commands that run never exceed the limit", NULL },
	[STORE_OVER] = { "store-over", "permits in the store never exceed the limit", NULL },
	[ORDER] = { "order", "no taker is granted before one with a lower ticket", NULL },
	[FENCE] = { "fence", "the tickets of permits rise", NULL },
	[ONCE] = { "once", "no taker holds and waits", NULL },
	[TOLD] = { "told", "what takers are told is so", NULL },
	[SEATS] = { "seats", "no two commands that run have one seat", NULL },
	[KEPT] = { "kept", "a permit is kept for ttl and grace after the last sign of life", NULL },
	[GHOSTS] = { "ghosts", "a taker that has ended gets nothing any more", NULL },
	[STEERED] = { "steered", "what operators have set is in force", NULL },
	[PLACES] = { "places", "a place is kept for the grace after its keeper's life", NULL },
	[IDLE] = { "idle", "what is free goes to the first waiter without delay", idle },
	[PROMPT] = { "prompt", "a waiter that is granted is told without delay", prompt },
	[CLEARED] = { "cleared", "a dead waiter's place is taken back by the next living one",
		      cleared },
	[ENDS] = { "ends", "each taker gets its turn when the faults are over", NULL },
	[LEAKS] = { "leaks", "when all have ended, the store keeps nothing of them", NULL },
	[WHOLE] = { "whole", "`flocklimitctl check' finds no fault then", NULL },
	[BUSY] = { "busy", "a keeper does not look without reason", NULL },
	[FOLLOWED] = { "followed", "a follower is told of each grant", NULL },
	[REMEMBERED] = { "remembered", "each permit that ends is remembered once", NULL },
	[COUNTED] = { "counted", "each one that is released is counted, and no counter falls",
		      NULL },
	[PACED] = { "paced", "each start is counted, and none is sooner than the pace allows",
		    NULL },
	[TURNS] = { "turns", "in a fair limiter each key has its turn", NULL },
	[LAWS] = { .name = NULL }
};

void
laws_check(void)
{
	const struct law *law;

	for (law = laws; law->name != NULL; law++)
		if (law->check != NULL)
			law->check();
}
