/* SPDX-License-Identifier: ISC */
/*
 * witness.c - the laws, as seen by a witness who does not ask the limiter: takers tell it when
 * they run, after the grant and before the release.  One who is killed is struck off before.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#define TAKERS 64
#define LOG    4096

static struct witness {
	atomic_flag lock; /* nobody is killed who has it: the killer takes it */
	char path[100];
	uint32_t sum, peak;
	struct {
		uint32_t weight, limit; /* while it runs */
	} runs[TAKERS];
	/* What is watched for. */
	uint32_t bound; /* no more than that in all; 0: not watched */
	bool promises;  /* no more than each one's own limit */
	uint32_t broken;
	/* How takers behave. */
	uint32_t max_weight, limit, mixed_limits;
	_Atomic bool stop;
	_Atomic uint32_t grants;
	uint64_t ticket[LOG]; /* in the order of the grants, as far as one can know it */
} * w;

static void
lock(void)
{
	while (atomic_flag_test_and_set(&w->lock))
		sched_yield();
}

static void
unlock(void)
{
	atomic_flag_clear(&w->lock);
}

static void
check_bounds(void)
{
	uint32_t i;

	for (i = 0; i < TAKERS; i++) {
		if (w->runs[i].weight == 0)
			continue;
		if (w->promises && w->sum > w->runs[i].limit)
			w->broken++;
		/* Too heavy for an override, and so alone. */
		if (w->bound != 0 && w->runs[i].weight > w->bound && w->sum != w->runs[i].weight)
			w->broken++;
		if (w->bound != 0 && w->runs[i].weight <= w->bound && w->sum > w->bound)
			w->broken++;
	}
}

static void
say_start(int me, uint32_t weight, uint32_t limit, uint64_t ticket)
{
	uint32_t n;

	lock();
	w->runs[me].weight = weight;
	w->runs[me].limit = limit;
	w->sum += weight;
	if (w->sum > w->peak)
		w->peak = w->sum;
	check_bounds();
	n = w->grants++;
	if (n < LOG)
		w->ticket[n] = ticket;
	unlock();
}

static void
say_end(int me)
{
	lock();
	w->sum -= w->runs[me].weight;
	w->runs[me].weight = 0;
	unlock();
}

static void
toil(int me, uint64_t seed)
{
	struct flk *f = attach(w->path);
	struct flk_taker *t = taker(f);
	struct flk_request want = { 0 };
	struct flk_permit p;
	uint32_t code;

	random_seed(seed);
	while (!w->stop) {
		want.limit = w->mixed_limits != 0 ? 1 + random_below(w->mixed_limits) : w->limit;
		want.weight =
		    1 + random_below(w->max_weight < want.limit ? w->max_weight : want.limit);
		if (random_below(4) == 0) {
			code = (uint32_t)-flk_try(t, &want);
			if (code == EAGAIN)
				continue;
		} else {
			code = (uint32_t)-flk_acquire(t, &want, NULL);
		}
		if (code != 0 || flk_permit(t, &p) != 0)
			_exit(1);
		say_start(me, p.weight, want.limit, p.ticket);
		if (random_below(4) == 0)
			sched_yield();
		say_end(me);
		if (flk_release(t) != 0)
			_exit(1);
	}
	flk_taker_free(t);
	flk_detach(f);
	_exit(0);
}

static pid_t pids[TAKERS];

static void
start(int i)
{
	pids[i] = fork_child();
	if (pids[i] == 0)
		toil(i, now_ns() + (uint64_t)i * 7919);
}

static struct flk *
set_up(int takers, uint32_t limit, uint32_t mixed, uint32_t max_weight)
{
	struct flk *f = fresh(limit);
	int i;

	memset(w, 0, sizeof(*w));
	strcpy(w->path, flk_path(f));
	w->limit = limit;
	w->mixed_limits = mixed;
	w->max_weight = max_weight;
	for (i = 0; i < takers; i++)
		start(i);
	return f;
}

static void
strike_off(int i)
{
	lock();
	w->sum -= w->runs[i].weight;
	w->runs[i].weight = 0;
	kill(pids[i], SIGKILL);
	unlock();
	reap_child(pids[i]);
}

static void
await_grants(uint32_t more)
{
	uint32_t from = w->grants;

	while (w->grants - from < more)
		usleep(200);
}

static void
finish(struct flk *f, int takers, const char *when)
{
	int i, failed = 0;

	w->stop = true;
	for (i = 0; i < takers; i++)
		failed += reap_child(pids[i]) != 0;
	is(failed, 0, "no taker had an error %s", when);
	whole(f, when);
	flk_detach(f);
}

static void
test_kills(int kills)
{
	struct flk *f = set_up(TAKERS, 7, 0, 7);
	int i, victim;

	w->bound = 7;
	for (i = 0; i < kills; i++) {
		await_grants(10);
		victim = (int)random_below(TAKERS);
		strike_off(victim);
		start(victim);
	}
	await_grants(100);
	is(w->broken, 0, "%d takers, %d of them killed: never over the limit", TAKERS, kills);
	tap_note("%u grants; at most %u of 7 units at once", w->grants, w->peak);
	finish(f, TAKERS, "after the killing");
}

static void
test_promises(int kills)
{
	struct flk *f = set_up(16, 5, 5, 5);
	int i, victim;

	w->promises = true;
	for (i = 0; i < kills; i++) {
		await_grants(40);
		victim = (int)random_below(16);
		strike_off(victim);
		start(victim);
	}
	is(w->broken, 0, "limits of 1 to 5: while one runs, never more than its own");
	tap_note("%u grants; at most %u units at once", w->grants, w->peak);
	finish(f, 16, "after different limits");
}

/* Waits until as few units are held as an override allows. */
static void
await_room(struct flk *f, uint32_t limit)
{
	while (units_used(f) > limit)
		usleep(500);
}

static void
test_override(void)
{
	static const uint32_t steps[] = { 2, 6, 1, 4, 3, 8, 2, 5 };
	struct flk *f = set_up(12, 4, 0, 4);
	struct flk_snapshot *s;
	uint64_t before;
	uint32_t i, limit;

	w->bound = 4;
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		limit = steps[i];
		if (limit >= w->bound)
			w->bound = limit;
		if (steer_override(f, limit) != 0)
			tap_bail("an override");
		if (limit < w->bound) {
			/* One that is too heavy runs alone, and more than `limit' is held then. */
			w->bound = 0;
			await_grants(200);
			w->bound = limit;
		}
		await_grants(200);
	}
	is(w->broken, 0, "an override raised and lowered: never over it, and the heavy alone");
	w->bound = 0;
	steer_override(f, 0);
	await_room(f, 0);
	flk_snapshot(f, &s);
	before = s->granted;
	free(s);
	is(steer_pause(f), 0, "paused as well");
	steer_override(f, FLK_AUTO);
	usleep(50000);
	flk_snapshot(f, &s);
	is(s->granted, before, "with an override of 0 or paused, nothing starts");
	free(s);
	steer_resume(f);
	await_grants(100);
	finish(f, 12, "after overrides");
}

/* Each taker's tickets rise by themselves; across takers only N = 1 shows the order. */
static void
test_order(void)
{
	struct flk *f = set_up(3, 1, 0, 1);
	uint32_t i, out_of_order = 0, n;

	await_grants(3000);
	lock(); /* or the last of them may not have its ticket yet */
	n = w->grants < LOG ? w->grants : LOG;
	unlock();
	/* cppcheck-suppress knownConditionTrueFalse ; the takers write there */
	for (i = 1; i < n; i++)
		out_of_order += w->ticket[i] <= w->ticket[i - 1];
	is(out_of_order, 0, "three loops of release and acquire or try: served by ticket");
	finish(f, 3, "after loops");
}

static void
wait_once(void)
{
	struct flk *f = attach(w->path);
	struct flk_taker *t = taker(f);
	struct flk_permit p;

	if (flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL) != 0 ||
	    flk_permit(t, &p) != 0)
		_exit(1);
	say_start(0, 1, 1, p.ticket);
	say_end(0);
	flk_taker_free(t);
	_exit(0);
}

static void
test_queue(int length)
{
	struct flk *f = set_up(0, 1, 0, 1);
	struct flk_taker *t = taker(f);
	pid_t pid[200];
	int i, failed = 0, wrong = 0;

	flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL);
	for (i = 0; i < length; i++) {
		pid[i] = fork_child();
		if (pid[i] == 0)
			wait_once();
		stands(f, 1, i + 1);
	}
	is(flk_release(t), 0, "%d queued one by one", length);
	for (i = 0; i < length; i++)
		failed += reap_child(pid[i]) != 0;
	is(failed, 0, "all of them ran");
	for (i = 0; i < length; i++)
		wrong += w->ticket[i] != (uint64_t)i + 2;
	is(wrong, 0, "in the order in which they came");
	flk_taker_free(t);
	whole(f, "after a long line");
	flk_detach(f);
}

static void
test_barging(uint32_t n)
{
	struct flk *f = fresh(n);
	struct flk_taker *holds = taker(f), *heavy = taker(f), *greedy = taker(f);
	struct flk_request all = { .weight = n, .limit = n }, one = { .weight = 1, .limit = n };
	int i, barged = 0, missed = 0;

	for (i = 0; i < 100; i++) {
		missed += flk_acquire(holds, &all, NULL) != 0;
		missed += flk_enqueue(heavy, &all) != -EINPROGRESS;
		if (n > 1) {
			/* Room for one, but not for the head of the line. */
			missed += flk_release_units(holds, 1) != 0;
			barged += flk_try(greedy, &one) != -EAGAIN;
		}
		missed += flk_release(holds) != 0;
		barged += flk_try(holds, &one) != -EAGAIN;
		barged += flk_enqueue(greedy, &one) != -EINPROGRESS;
		missed += flk_wait(heavy, NULL, NULL) != 0;
		missed += flk_release(heavy) != 0;
		missed += flk_wait(greedy, NULL, NULL) != 0;
		missed += flk_release(greedy) != 0;
	}
	is(barged, 0, "nobody barges past one who waits for all of %u", n);
	is(missed, 0, "who gets it then");
	flk_taker_free(holds);
	flk_taker_free(heavy);
	flk_taker_free(greedy);
	whole(f, "after attempts to barge");
	flk_detach(f);
}

int
main(int argc, char **argv)
{
	int kills = argc > 1 ? atoi(argv[1]) : 150;

	begin();
	if (argc > 1)
		alarm(3600);
	random_seed(now_ns());
	w = mmap(NULL, sizeof(*w), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (w == MAP_FAILED)
		tap_bail("mmap");
	test_kills(kills);
	test_promises(kills);
	test_override();
	test_order();
	test_queue(200);
	test_barging(1);
	test_barging(4);
	return tap_done();
}
