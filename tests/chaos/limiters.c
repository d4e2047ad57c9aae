/* SPDX-License-Identifier: ISC */
/*
 * limiters.c - steers the limiters through the library, removes their files, and looks at
 * what is left in them when nobody uses them any more.
 */
#include "driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "flocklimit.h"
#include "../helpers/steer.h"
#include "../helpers/tap.h"

#define REMOVED 4000

struct limiter limiter[LIMITERS];

static struct steered {
	struct flk *f;
	bool changed[VERBS];
	uint64_t until[VERBS];
} steered[LIMITERS];

/* Files that have no name any more, until those who may have found them are gone. */
static struct {
	struct flk *f;
	unsigned lim;
	uint64_t last_id;
} removed[REMOVED];
static unsigned removed_count;

/*
 * A taker that the driver stopped inside the lock keeps the driver out, which alone lets it go on.  To
 * bail out here after two seconds would call the driver's own doing an error.
 */
static bool
let_it_go_on(void *context, pid_t pid)
{
	(void)context;
	(void)pid;
	harm_planned(chaos_now());
	return true;
}

static struct flk *
attach(unsigned i)
{
	struct flk_options options = { .limit = 8, .stuck = let_it_go_on };
	struct flk *f;
	int error = flk_attach(&f, limiter[i].path, &options);

	if (error == 0 && i == FAIR)
		error = steer_fair(f, FLK_FAIR_KEY);
	if (error != 0)
		tap_bail("flk_attach: %s", flk_strerror(error));
	return f;
}

void
limiters_begin(const char *dir)
{
	unsigned i;

	for (i = 0; i < LIMITERS; i++) {
		snprintf(limiter[i].path, sizeof(limiter[i].path), "%s/limiter-%u", dir, i);
		limiter[i].n = 8;
		steered[i].f = attach(i);
	}
}

static int
change(struct flk *f, enum verb verb, int64_t value)
{
	struct flk_gate gate = { .patience_ns = UINT64_MAX };

	switch (verb) {
	case OVERRIDE:
		return steer_override(f, value);
	case PAUSE:
		return value ? steer_pause(f) : steer_resume(f);
	case GATE:
		if (value)
			strcpy(gate.when, "mem>1000000G");
		return steer_gate(f, &gate);
	case SHUT:
		return value ? steer_close(f) : steer_open(f);
	default:
		return 0;
	}
}

static void
steer(unsigned i, enum verb verb, int64_t value)
{
	struct steered *s = &steered[i];
	uint64_t since = chaos_now();
	int error = change(s->f, verb, value);

	if (error != 0)
		tap_bail("steering: %s", flk_strerror(error));
	chaos_say("G %" PRIu64 " %" PRIu64 " %u %" PRIu64 " %d %" PRId64, since, chaos_now(), i,
		  flk_identity(s->f), (int)verb, value);
	s->changed[verb] = verb == OVERRIDE ? value != FLK_AUTO : value != 0;
}

static void
steer_for(unsigned i, enum verb verb, int64_t value, unsigned ms)
{
	steer(i, verb, value);
	steered[i].until[verb] = chaos_now() + (uint64_t)ms * 1000000;
}

static void
undo(unsigned i, enum verb verb)
{
	if (steered[i].changed[verb])
		steer(i, verb, verb == OVERRIDE ? FLK_AUTO : 0);
}

void
limiters_steer(double seconds)
{
	static const unsigned overrides[] = { 1, 2, 3, 5, 9, 13, 20 };
	unsigned i = below(QUIET), verb;
	uint64_t now = chaos_now();

	for (verb = OVERRIDE; verb < VERBS; verb++) {
		unsigned k;
		for (k = 0; k < LIMITERS; k++)
			if (steered[k].changed[verb] && steered[k].until[verb] <= now)
				undo(k, verb);
	}
	if (due(1.5, seconds))
		limiter[i].n = 4 + 4 * below(LIMIT / 4);
	if (due(1.5, seconds))
		steer_for(i, OVERRIDE, overrides[below(7)], 30 + below(300));
	if (due(0.2, seconds))
		steer_for(i, OVERRIDE, 0, 5 + below(40));
	if (due(0.8, seconds))
		steer_for(i, PAUSE, 1, 5 + below(50));
	if (due(0.5, seconds))
		steer_for(i, GATE, 1, 5 + below(50));
	if (due(0.05, seconds))
		steer_for(i, SHUT, 1, 1 + below(4));
	if (due(0.4, seconds))
		limiters_remove();
}

void
limiters_calm(void)
{
	unsigned i, verb;

	for (i = 0; i < LIMITERS; i++)
		for (verb = OVERRIDE; verb < VERBS; verb++)
			undo(i, (enum verb)verb);
}

/*
 * The old file is steered back: a waiter in it goes over when its turn comes.  In a paused limiter that
 * is never, and behind a gate one goes a second.
 */
void
limiters_remove(void)
{
	unsigned i = below(QUIET), verb;
	uint64_t since = chaos_now();

	if (removed_count == REMOVED)
		return;
	if (unlink(limiter[i].path) == -1)
		tap_bail("unlink");
	chaos_say("U %" PRIu64 " %" PRIu64 " %u", since, chaos_now(), i);
	for (verb = OVERRIDE; verb < VERBS; verb++)
		undo(i, (enum verb)verb);
	operator_lift_gate(i);
	removed[removed_count].f = steered[i].f;
	removed[removed_count].lim = i;
	removed[removed_count++].last_id = last_id;
	steered[i].f = attach(i);
}

struct flk *
limiter_handle(unsigned i)
{
	return steered[i].f;
}

bool
limiter_gate_is_closed(unsigned i)
{
	return steered[i].changed[GATE];
}

/* Its state went with it. */
void
limiter_anew(unsigned i)
{
	flk_detach(steered[i].f);
	steered[i] = (struct steered){ .f = attach(i) };
}

/* Everything was given back, nobody waits, no invariant is broken, and all of it can be had. */
static void
inspect(struct flk *f, unsigned i)
{
	struct flk_request all = { .weight = LIMIT, .limit = LIMIT };
	struct flk_snapshot *snap = NULL;
	struct flk_taker *t = NULL;
	uint64_t used = UINT64_MAX;
	uint32_t waiters = UINT32_MAX;
	char why[200] = "";
	int check, got;

	if (flk_snapshot(f, &snap) == 0) {
		used = snap->used;
		waiters = snap->waiters;
	}
	check = flk_check(f, why, sizeof(why));
	got = flk_taker_new(&t, f);
	if (got == 0)
		got = flk_try(t, &all);
	if (check != 0 || got != 0)
		tap_note("limiter %u: %s %s; all of it: %s", i, flk_strerror(check), why,
			 flk_strerror(got));
	chaos_say("W %" PRIu64 " %u %" PRIu64 " %" PRIu64 " %u %d %d", chaos_now(), i,
		  flk_identity(f), used, waiters, check, got);
	flk_taker_free(t);
	free(snap);
	flk_detach(f);
}

void
limiters_inspect(bool end)
{
	uint64_t oldest = takers_oldest();
	unsigned i;

	for (i = 0; i < removed_count; i++)
		if (end || removed[i].last_id < oldest) {
			inspect(removed[i].f, removed[i].lim);
			removed[i--] = removed[--removed_count];
		}
	for (i = 0; end && i < LIMITERS; i++)
		inspect(steered[i].f, i);
}
