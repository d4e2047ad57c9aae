/* SPDX-License-Identifier: ISC */
/*
 * passed.c - takers that have passed another one, or were passed, are killed at the worst moment: when
 * the kernel has woken one of them for a death, and before it runs.
 *
 * Who is not to run for a while gets what no other process wants of the CPUs, and processes that never
 * sleep want all.  The kernel wakes the sleeper on a word that has slept the longest.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/sysinfo.h>

#include "alive.h"
#include "futex.h"
#include "internal.h"
#include "../helpers/steer.h"

#define ROUNDS   5
#define ALONE_MS 20000 /* well before the safety look after a minute: it was no accident */
#define MOST     64

static pid_t busy[MOST];
static int busy_count;

static void
keep_cpus_busy(void)
{
	volatile bool always = true;

	for (busy_count = 0; busy_count < get_nprocs() && busy_count < MOST; busy_count++)
		if ((busy[busy_count] = fork_child()) == 0)
			while (always)
				;
}

static void
let_all_run(void)
{
	while (busy_count > 0) {
		kill(busy[--busy_count], SIGKILL);
		reap_child(busy[busy_count]);
	}
}

static struct order
take(void)
{
	return (struct order){ .kind = ACQUIRE, .weight = 1, .limit = 1, .ms = -1 };
}

static void
sleeps_in_line(pid_t pid, struct flk *f, int waiters)
{
	if (!stands(f, 1, waiters))
		tap_bail("no %d wait", waiters);
	until_asleep(pid);
}

/* A waiter that lets so many pass it; idle: it runs when no other process wants to. */
static pid_t
lets_pass(struct flk *f, unsigned yield, int waiters, bool idle)
{
	const struct flk_request one = { .weight = 1, .limit = 1, .yield = yield };
	const struct sched_param none = { 0 };
	pid_t pid = fork_child();

	if (pid == 0) {
		if (idle && sched_setscheduler(0, SCHED_IDLE, &none) != 0)
			_exit(1);
		flk_acquire(taker(attach(flk_path(f))), &one, NULL);
		_exit(0);
	}
	sleeps_in_line(pid, f, waiters);
	return pid;
}

static void
joins(struct agent *a, struct flk *f, int waiters)
{
	agent_tell(a, take());
	sleeps_in_line(a->pid, f, waiters);
}

static bool
gets_it(struct agent *a)
{
	return agent_answered(a, ALONE_MS) && agent_hear(a).code == 0;
}

/*
 * The line is newcomer, passed, last.  The newcomer may be woken for the death of the one that it has
 * passed; it dies before it runs.  The last one has to learn of both.
 */
static bool
both_die(void)
{
	struct flk *f = fresh(1);
	struct agent holder = agent_start(flk_path(f)), newcomer = agent_start(flk_path(f));
	struct agent last = agent_start(flk_path(f));
	const struct sched_param none = { 0 };
	bool well;
	pid_t passed;

	agent_do(&holder, take());
	passed = lets_pass(f, 1, 1, false);
	joins(&newcomer, f, 2);
	joins(&last, f, 3);
	if (sched_setscheduler(newcomer.pid, SCHED_IDLE, &none) != 0)
		tap_bail("sched_setscheduler");
	keep_cpus_busy();
	kill(passed, SIGKILL);
	reap_child(passed);
	kill(newcomer.pid, SIGKILL);
	let_all_run();
	agent_reap(&newcomer);
	agent_do(&holder, (struct order){ .kind = RELEASE });
	well = gets_it(&last);
	agent_stop(&holder);
	agent_stop(&last);
	well &= units_used(f) == 0;
	flk_detach(f);
	return well;
}

/*
 * The line is newcomer, passed.  The one that was passed is to watch the newcomer now, and not the holder.
 * It does not run before the holder dies, so the kernel wakes it for that; and then it dies.
 */
static bool
holder_and_passed_die(void)
{
	struct flk *f = fresh(1);
	struct agent holder = agent_start(flk_path(f)), newcomer = agent_start(flk_path(f));
	bool well;
	pid_t passed;

	agent_do(&holder, take());
	passed = lets_pass(f, 1, 1, true);
	keep_cpus_busy();
	joins(&newcomer, f, 2);
	agent_kill(&holder, SIGKILL);
	kill(passed, SIGKILL);
	let_all_run();
	reap_child(passed);
	well = gets_it(&newcomer);
	agent_stop(&newcomer);
	well &= units_used(f) == 0;
	flk_detach(f);
	return well;
}

/* It sleeps for the death of the holder as a waiter does that was the head, and does nothing when it is woken. */
static pid_t
sleeps_for_holder(struct flk *f)
{
	struct flk_snapshot *s;
	struct alive *a;
	uint32_t value;
	pid_t pid;

	if (flk_snapshot(f, &s) != 0 || s->holders != 1)
		tap_bail("no holder");
	a = &f->file.slots[s->entry[0].slot].alive;
	free(s);
	if ((pid = fork_child()) == 0) {
		if (flki_alive_watch(a, &value))
			flki_futex_sleep(&a->word, value, UINT64_MAX);
		_exit(0);
	}
	until_asleep(pid);
	return pid;
}

/*
 * The line is last, middle, first: each has passed the one behind it.  The middle one watches the last one;
 * but the first to come, which was the head, has not run since, and is the one that the kernel wakes.
 */
static bool
passed_twice(void)
{
	static const struct flk_request two = { .weight = 1, .limit = 1, .yield = 2 };
	struct flk *f = fresh(1);
	struct agent holder = agent_start(flk_path(f)), last = agent_start(flk_path(f));
	struct flk_taker *first = taker(f);
	pid_t middle, sleeper;
	bool well;

	agent_do(&holder, take());
	if (flk_enqueue(first, &two) != -EINPROGRESS)
		tap_bail("it does not wait");
	sleeper = sleeps_for_holder(f);
	middle = lets_pass(f, 1, 2, false);
	joins(&last, f, 3);
	until_asleep(middle);
	/* The head looks once more, and sees that the one behind it watches it. */
	if (steer_limit(f, 1) != 0)
		tap_bail("the head is not woken");
	until_asleep(last.pid);
	agent_kill(&holder, SIGKILL);
	reap_child(sleeper);
	well = gets_it(&last);
	agent_stop(&last);
	flk_leave(first);
	reap_child(middle);
	flk_taker_free(first);
	well &= units_used(f) == 0;
	flk_detach(f);
	return well;
}

/* A snapshot says of a waiter how many may pass it; a holder can't be passed. */
static void
test_shown(void)
{
	static const struct flk_request one = { .weight = 1, .limit = 1, .yield = 5 };
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f), *second = taker(f);
	struct flk_snapshot *s;

	flk_try(t, &one);
	is(flk_enqueue(second, &one), -EINPROGRESS, "a waiter");
	if (flk_snapshot(f, &s) != 0)
		tap_bail("no snapshot");
	ok(s->entry[0].yield == 0 && s->entry[1].yield == 5, "a holder consents to nothing");
	free(s);
	flk_taker_free(second);
	flk_taker_free(t);
	flk_detach(f);
}

int
main(void)
{
	int i, both = 0, other = 0, twice = 0;

	begin();
	test_shown();
	for (i = 0; i < ROUNDS; i++) {
		both += both_die();
		other += holder_and_passed_die();
		twice += passed_twice();
	}
	is(both, ROUNDS, "a newcomer dies with the one that it has passed: the next goes on");
	is(other, ROUNDS, "one that was passed dies with the holder: the newcomer goes on");
	is(twice, ROUNDS,
	   "one that was passed twice is woken for the holder's death: the last goes on");
	return tap_done();
}
