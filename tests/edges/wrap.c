/* SPDX-License-Identifier: ISC */
/*
 * wrap.c - numbers at their ends: tickets, generations, counters, wake words, units.  A limiter
 * is forged to have lived for so long.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "internal.h"

static const struct order take_one = { .kind = ACQUIRE, .limit = 1, .ms = -1 };
static const struct order release = { .kind = RELEASE };

static void
rebuild(struct flk *f)
{
	struct flk_taker *t = taker(f);
	struct state st;

	if (flki_enter(t, &st) != 0)
		tap_bail("flki_enter");
	ok(flki_state_rebuild(&st), "the index can be made anew there");
	flki_quit(t, &st);
	flk_taker_free(t);
}

/* One holds and `waiters' wait; the line is made anew; then each gets the next ticket in turn. */
static void
serve_across(uint64_t last, int waiters)
{
	struct flk *f = fresh(1);
	struct agent a[8];
	struct answer got;
	int i, wrong = 0;

	f->file.h->last_ticket = last;
	for (i = 0; i <= waiters; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], take_one);
		wrong += !stands(f, 1, i);
	}
	is(wrong, 0, "one holds and %d wait, after ticket %llu", waiters, (unsigned long long)last);
	rebuild(f);
	for (i = 0; i <= waiters; i++) {
		got = agent_hear(&a[i]);
		wrong += got.code != 0 || got.permit.ticket != last + 1 + (uint64_t)i;
		wrong += agent_do(&a[i], release).code != 0;
		agent_stop(&a[i]);
	}
	is(wrong, 0, "each is served in its turn, with the next number");
	whole(f, "across that number");
	flk_detach(f);
}

/* No ticket is drawn twice, so there is none after the last. */
static void
test_last_ticket(void)
{
	struct flk *f = fresh(1), *g;
	struct agent a[3], late;
	struct flk_taker *t;
	struct timespec now = in_ms(0);
	int i, wrong = 0;

	f->file.h->last_ticket = LAST_TICKET - 3;
	for (i = 0; i < 3; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], take_one);
		wrong += !stands(f, 1, i);
	}
	is(wrong, 0, "the last three tickets are drawn");
	late = agent_start(flk_path(f));
	is(agent_do(&late, take_one).code, -FLK_DAMAGED, "there is none for who comes then");
	is(agent_do(&late, (struct order){ .kind = TRY, .limit = 9 }).code, -FLK_DAMAGED,
	   "nor without waiting");
	t = taker(f);
	is(flk_wait_idle(t, &now), -FLK_DAMAGED, "nor for one who waits until it is idle");
	flk_taker_free(t);
	rebuild(f);
	wrong = 0;
	for (i = 0; i < 3; i++) {
		struct answer got = agent_hear(&a[i]);
		wrong += got.code != 0 || got.permit.ticket != LAST_TICKET - 2 + (uint64_t)i;
		if (i == 1)
			agent_kill(&a[i], SIGKILL);
		else
			wrong += agent_do(&a[i], release).code != 0;
	}
	is(wrong, 0, "those who had one are served in order, though one is killed");
	is(agent_do(&late, take_one).code, -FLK_DAMAGED, "and it stays at its end");
	agent_stop(&a[0]);
	agent_stop(&a[2]);
	agent_stop(&late);
	whole(f, "at the end of the tickets");
	is(unlink(flk_path(f)), 0, "what the message says: its takers are gone, it is removed");
	g = attach(flk_path(f));
	t = taker(g);
	is(flk_try(t, &(struct flk_request){ .limit = 1 }), 0, "and a new one begins");
	flk_taker_free(t);
	flk_detach(g);
	flk_detach(f);
}

static void
set_generations(struct flk *f, uint32_t gen)
{
	uint32_t i;

	for (i = 0; i < flki_file_slots(&f->file); i++)
		atomic_store(&f->file.slots[i].gen, gen);
}

/* A child that ends inside the lock, in a slot that it claims after generation `gen'. */
static void
die_inside(struct flk *f, uint32_t gen)
{
	const char *path = flk_path(f);
	uint64_t before = f->file.h->repaired;
	struct flk_taker *t;
	struct state st;
	pid_t pid;

	set_generations(f, gen);
	pid = fork_child();
	if (pid == 0) {
		struct flk *own = attach(path);
		t = taker(own);
		_exit(flki_enter(t, &st) != 0);
	}
	is(reap_child(pid), 0, "one dies inside, claimed after generation %u", gen);
	is(atomic_load(&f->file.h->lock) >> 32, (uint32_t)(gen + 1), "the lock has its generation");
	t = taker(f);
	is(flk_try(t, &(struct flk_request){ .limit = 1 }), 0, "the next takes the lock over");
	is(f->file.h->repaired, before + 1, "and mends");
	flk_taker_free(t);
	whole(f, "after that");
}

static void
test_generations(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f), *other;
	struct flk_request one = { .limit = 1 };
	struct state st;
	uint32_t gen;
	pid_t pid;

	for (gen = UINT32_MAX - 2; gen != 2; gen++)
		die_inside(f, gen);

	/* An owner of the generation before, in a slot that has a living taker by now. */
	set_generations(f, UINT32_MAX);
	is(flk_try(t, &one), 0, "a taker of generation 0");
	is(taker_slot(t)->gen, 0, "which follows the highest");
	atomic_store(&f->file.h->lock, UINT64_C(0xffffffff) << 32 | ((uint64_t)t->slot + 1) << 1);
	other = taker(f);
	is(flki_enter(other, &st), 0, "the one before it in its slot died inside");
	is(flki_quit(other, &st), 0, "which another mends");
	is(flk_release(t), 0, "and the permit is its own still");
	flk_taker_free(t);

	/* A living one of generation 0 is no dead one of any other. */
	set_generations(f, UINT32_MAX);
	pid = fork_child();
	if (pid == 0) {
		struct flk *own = attach(flk_path(f));
		t = taker(own);
		if (flki_enter(t, &st) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(flki_quit(t, &st) != 0);
	}
	while (atomic_load(&f->file.h->lock) == 0)
		usleep(100);
	is(atomic_load(&f->file.h->lock) >> 32, 0, "one of generation 0 is stopped inside");
	is(flki_enter(other, &st), -FLK_STUCK, "nobody takes its lock");
	is(flk_stuck_pid(f), pid, "and it is named");
	kill(pid, SIGCONT);
	is(reap_child(pid), 0, "it goes on");
	flk_taker_free(other);
	whole(f, "after the generations began anew");
	flk_detach(f);
}

/* The numbers for people may begin anew; nothing may hang on them. */
static void
test_counters(void)
{
	struct flk *f = fresh(1);
	struct header *h = f->file.h;
	struct agent a = agent_start(flk_path(f)), b = agent_start(flk_path(f));
	uint32_t i;

	h->granted = h->released = h->left = h->evicted = h->reaped = h->repaired = UINT64_MAX;
	atomic_store(&h->hint, UINT32_MAX);
	for (i = 0; i < flki_file_slots(&f->file); i++)
		atomic_store(&f->file.slots[i].wake, UINT32_MAX);
	is(agent_do(&a, take_one).code, 0,
	   "all counters and wake words at their highest: one takes");
	agent_tell(&b, take_one);
	ok(stands(f, 1, 1), "one waits");
	is(agent_do(&a, release).code, 0, "one releases");
	is(agent_hear(&b).code, 0, "and the other wakes");
	is(h->granted, 1, "the counters began anew");
	agent_tell(&a, take_one);
	ok(stands(f, 1, 1), "one waits");
	agent_kill(&b, SIGKILL);
	is(agent_hear(&a).code, 0, "the holder is killed, and the other wakes");
	agent_stop(&a);
	whole(f, "after the counters began anew");
	flk_detach(f);
}

/* Sums of the largest weights under the largest limits. */
static void
test_units(void)
{
	struct flk *f = fresh(FLK_MAX_UNITS);
	struct flk_request all = { .weight = FLK_MAX_UNITS, .limit = FLK_MAX_UNITS },
			   default_limit = { .weight = FLK_MAX_UNITS };
	struct flk_request one = { .weight = 1, .limit = FLK_MAX_UNITS };
	struct flk_taker *t[6];
	int i, held;

	for (i = 0; i < 6; i++)
		t[i] = taker(f);
	is(flk_try(t[0], &default_limit), 0,
	   "the largest weight, under the largest limit declared");
	is(flk_try(t[1], &one), -EAGAIN, "not one unit more");
	is(steer_override(f, FLK_MAX_UNITS), 0, "the largest override");
	is(flk_try(t[1], &one), -EAGAIN, "not one unit more");
	is(steer_override(f, (int64_t)FLK_MAX_UNITS + 1), -EINVAL, "there is no larger");
	is(steer_override(f, INT64_MAX), -EINVAL, "nor this");
	is(flk_release_units(t[0], 1), 0, "one unit is given back");
	is(flk_try(t[1], &one), 0, "and taken");
	is(flk_try(t[2], &one), -EAGAIN, "not one more");
	flk_release(t[0]);
	flk_release(t[1]);

	/* What no caller can ask for: a sum beyond 32 bits must not come out as a small one. */
	f->file.h->override = INT64_MAX;
	for (held = 0, i = 0; i < 6; i++)
		held += flk_try(t[i], &all) == 0;
	is(held, 4, "under a forged override of 2^32 - 1, four of 10^9 and not six");
	is(units_used(f), 4 * (uint64_t)FLK_MAX_UNITS, "the sum does not wrap");
	for (i = 0; i < 6; i++)
		flk_leave(t[i]);
	f->file.h->override = FLK_AUTO;
	f->file.h->withheld = UINT64_MAX;
	is(flk_try(t[0], &one), -EAGAIN, "with all units withheld, and more, nothing starts");
	f->file.h->withheld = 0;
	for (i = 0; i < 6; i++)
		flk_taker_free(t[i]);
	whole(f, "after the largest sums");
	flk_detach(f);
}

int
main(void)
{
	begin();
	serve_across(UINT32_MAX - UINT64_C(3), 6);
	serve_across(INT64_MAX / PLACE_GAP - UINT64_C(3), 6);
	serve_across(LAST_TICKET - UINT64_C(7), 6);
	test_last_ticket();
	test_generations();
	test_counters();
	test_units();
	return tap_done();
}
