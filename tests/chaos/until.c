/* SPDX-License-Identifier: ISC */
/*
 * until.c - until when did each surely hold its permit?
 */
#include "judge.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

/* ---- what was done to a process ---- */

static int
by_target(const void *a, const void *b)
{
	const struct harm *x = a, *y = b;

	if (x->what != y->what)
		return x->what < y->what ? -1 : 1;
	if (x->target != y->target)
		return x->target < y->target ? -1 : 1;
	return x->t < y->t ? -1 : x->t > y->t;
}

static int
by_from(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

uint64_t
chaos_first_harm(const struct story *s, enum target what, uint64_t target, int sig, uint64_t since)
{
	const struct harm *h = s->harms.at;
	struct harm want = { .what = what, .target = target, .t = since };
	size_t low = 0, high = s->harms.n, middle;

	while (low < high) {
		middle = (low + high) / 2;
		if (by_target(&h[middle], &want) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < s->harms.n && h[low].what == what && h[low].target == target; low++)
		if (sig == 0 ? h[low].sig == SIGKILL || h[low].sig == SIGTERM
			     : h[low].sig == (uint64_t)sig)
			return h[low].t;
	return NEVER;
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
most(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* ---- until when ---- */

/* The first thing that may have ended the command, other than itself. */
static uint64_t
command_hit(const struct story *s, const struct run *r)
{
	/* A process's number may have been another's before; ids are nobody else's. */
	uint64_t t = chaos_first_harm(s, COMMAND, r->pid, 0, r->started);

	/* TERM is passed on by the wrapper, also one that came before the command. */
	t = least(t, chaos_first_harm(s, WRAPPER, r->taker, SIGTERM, 0));
	if (r->flags & (EXEC | AGENT))
		t = least(t, chaos_first_harm(s, WRAPPER, r->taker, SIGKILL, 0));
	if (r->group != 0)
		t = least(t, chaos_first_harm(s, GROUP, r->group, 0, 0));
	return t;
}

static uint64_t
wrapper_killed(const struct story *s, const struct run *r)
{
	uint64_t t = chaos_first_harm(s, WRAPPER, r->taker, SIGKILL, 0);

	return r->group != 0 ? least(t, chaos_first_harm(s, GROUP, r->group, SIGKILL, 0)) : t;
}

/* The end of the stop that lasts at `t', or `t'. */
static uint64_t
after_stop(const struct story *s, enum target what, uint64_t target, uint64_t since, uint64_t t)
{
	uint64_t stop = chaos_first_harm(s, what, target, SIGSTOP, since), cont;

	while (stop <= t) {
		cont = chaos_first_harm(s, what, target, SIGCONT, stop);
		if (cont > t)
			return cont;
		stop = chaos_first_harm(s, what, target, SIGSTOP, cont);
	}
	return t;
}

/*
 * Surely: what ends by itself says so just before.  What is killed has lived until it was hit,
 * for the driver says so first; where its own wrapper may have ended it (-T), only until it said
 * something last.  Without a guard (-o, an agent) the permit ends with the wrapper as well.
 *
 * A heir extends it in two cases: its wrapper was replaced by the command (-F); or its wrapper
 * was dead, reaped even, while the command surely ran.  Then the guard alone keeps the permit, and
 * the heir has the guard without a break since before the command ended.
 */
static void
judge_end(const struct story *s, struct run *r, struct verdict *v)
{
	uint64_t hit = command_hit(s, r), killed = wrapper_killed(s, r), heir_hit, heir_end;
	bool gone;

	r->surely = r->ended;
	r->room = r->ended;
	if (r->ended == 0) {
		if (hit == NEVER && !(r->flags & RUN))
			chaos_guilty(v, VANISHED, r->started,
				     "the command of taker %llu ended, and nobody killed it",
				     (unsigned long long)r->id);
		r->surely = hit == NEVER || r->flags & RUN ? r->started : most(hit, r->started);
		r->surely = most(r->surely, r->alive);
		r->room = r->flags & RUN || r->alive != 0 ? most(r->reaped, r->surely) : r->surely;
		/* TERM waits for the end of a stop. */
		r->room = after_stop(s, COMMAND, r->pid, r->started, r->room);
	}
	if (r->flags & CLOSE) {
		/* Not even at its start, if its wrapper was hit before. */
		r->surely = least(r->surely, killed);
		r->room = least(r->room, killed);
	} else if (r->heir_started != 0 && !(r->flags & AGENT)) {
		heir_hit =
		    least(chaos_first_harm(s, COMMAND, r->heir, 0, r->heir_started),
			  r->group != 0 ? chaos_first_harm(s, GROUP, r->group, 0, r->heir_started)
					: NEVER);
		heir_end = r->heir_ended != 0 ? r->heir_ended : heir_hit;
		gone = r->reaped != 0 && WIFSIGNALED(r->status) && r->reaped < r->surely;
		if (heir_end == NEVER)
			chaos_guilty(v, VANISHED, r->heir_started,
				     "the heir of taker %llu ended, and nobody killed it",
				     (unsigned long long)r->id);
		else if (gone || r->flags & EXEC)
			r->surely = most(r->surely, heir_end);
		if (heir_end != NEVER && (killed != NEVER || r->flags & EXEC))
			r->room = most(r->room, heir_end);
	}
	/* A stopped wrapper gives nothing back; one stops also with its command. */
	r->room = after_stop(s, WRAPPER, r->taker, 0, r->room);
	r->room = after_stop(s, COMMAND, r->pid, r->started, r->room);
	if (r->group != 0)
		r->room = after_stop(s, GROUP, r->group, 0, r->room);
}

static void
find_stops(struct story *s)
{
	foreach(struct run, r, s->runs) {
		uint64_t end = r->reaped != 0 ? r->reaped : s->end, from, to;
		int group;
		for (group = 0; group <= (r->group != 0); group++) {
			enum target what = group ? GROUP : WRAPPER;
			uint64_t target = group ? r->group : r->taker;
			from = chaos_first_harm(s, what, target, SIGSTOP, r->launched);
			for (; from < end; from = chaos_first_harm(s, what, target, SIGSTOP, to)) {
				to = chaos_first_harm(s, what, target, SIGCONT, from);
				*(struct span *)chaos_add(&s->stops, sizeof(struct span)) =
				    (struct span){ .from = from,
						   .to = least(to, end),
						   .of = r->lim };
				if (to == NEVER)
					break;
			}
		}
	}
}

void
chaos_until(struct story *s, struct verdict *v)
{
	if (s->harms.n > 0)
		qsort(s->harms.at, s->harms.n, sizeof(struct harm), by_target);
	if (s->beats.n > 0)
		qsort(s->beats.at, s->beats.n, sizeof(struct span), by_from);
	foreach(struct run, r, s->runs)
		if (r->started != 0)
			judge_end(s, r, v);
	find_stops(s);
	if (s->stops.n > 0)
		qsort(s->stops.at, s->stops.n, sizeof(struct span), by_from);
}
