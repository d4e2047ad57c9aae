/* SPDX-License-Identifier: ISC */
/*
 * crash.c - takers that are killed or stopped anywhere, and the others, who go on by themselves.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <limits.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "internal.h"

#define ALONE_MS 40000 /* well before the safety look after a minute: it was no accident */

static struct order
take(uint32_t weight)
{
	return (struct order){ .kind = ACQUIRE, .weight = weight, .limit = 2, .ms = -1 };
}

static const struct order release = { .kind = RELEASE };

/*
 * ---- killed at any instruction ----
 *
 * A victim does one thing step by step, in the debugger's sense, and is killed after so many
 * steps.  Three others hold or wait around it.  Nobody helps them: not even a snapshot is taken
 * before they have gone on.
 */

struct scene {
	const char *name;
	void (*prepare)(struct agent *others, struct flk *f);
	int (*victim_first)(struct flk_taker *t); /* before the steps; NULL: nothing */
	int (*victim_steps)(struct flk_taker *t);
	void (*line_up)(struct agent *others, struct flk *f); /* once the victim is in its place */
	void (*go_on)(struct agent *others, struct flk *f);
};

static const struct flk_request all_of_it = { .weight = 2, .limit = 2 };

static bool alone; /* in this round everybody went on by himself */
static const char *who_did_not;

static void
runs_alone(struct agent *a, const char *name)
{
	if (!agent_answered(a, ALONE_MS)) {
		alone = false;
		who_did_not = name;
		return;
	}
	if (agent_hear(a).code != 0) {
		alone = false;
		who_did_not = "nobody with success";
	}
}

/* Hears the late ones, after help. */
static void
help(struct agent *others, struct flk *f, const bool *asked)
{
	int i;

	units_used(f);
	for (i = 0; i < 3; i++)
		if (asked[i])
			agent_hear(&others[i]);
}

static void
settle(struct agent *others)
{
	int i;

	for (i = 0; i < 3; i++)
		agent_do(&others[i], (struct order){ .kind = LEAVE });
}

/* B and C want 1 each, D wants both. */
static void
line_of_three(struct agent *o, struct flk *f)
{
	int before = 0;
	struct flk_snapshot *s;

	if (flk_snapshot(f, &s) == 0) {
		before = (int)s->waiters;
		free(s);
	}
	agent_tell(&o[0], take(1));
	stands(f, -1, before + 1);
	agent_tell(&o[1], take(1));
	stands(f, -1, before + 2);
	agent_tell(&o[2], take(2));
	stands(f, -1, before + 3);
}

static void
three_go_on(struct agent *o, struct flk *f)
{
	bool waits[3] = { true, true, true };

	runs_alone(&o[0], "the first");
	if (alone) {
		waits[0] = false;
		runs_alone(&o[1], "the second");
	}
	if (!alone) {
		help(o, f, (bool[3]){ waits[0], waits[1], false });
	}
	agent_do(&o[0], release);
	agent_do(&o[1], release);
	if (alone)
		runs_alone(&o[2], "the third");
	if (!alone && waits[2] && agent_answered(&o[2], PATIENCE_MS))
		agent_hear(&o[2]);
}

static int
acquire_all(struct flk_taker *t)
{
	return flk_acquire(t, &all_of_it, NULL);
}

static int
enqueue_all(struct flk_taker *t)
{
	int error = flk_enqueue(t, &all_of_it);

	return error == -EINPROGRESS ? 0 : error;
}

static int
release_one(struct flk_taker *t)
{
	return flk_release_units(t, 1);
}

/* Forgotten or not, as it happened: nothing in between. */
static void
after_forgetting(struct agent *o, struct flk *f)
{
	struct flk_snapshot *s;
	uint32_t withheld = 0;

	if (flk_snapshot(f, &s) == 0) {
		withheld = s->set.withheld;
		free(s);
	}
	if (withheld != 0 && (withheld != 2 || steer_restore(f, withheld) != 0))
		who_did_not = "the sum of what is withheld", alone = false;
	three_go_on(o, f);
}

static void
first_holds(struct agent *o, struct flk *f)
{
	(void)f;
	agent_do(&o[0], take(2));
}

static void
two_behind(struct agent *o, struct flk *f)
{
	agent_tell(&o[1], take(1));
	stands(f, -1, 2);
	agent_tell(&o[2], take(1));
	stands(f, -1, 3);
}

static void
one_before(struct agent *o, struct flk *f)
{
	first_holds(o, f);
	agent_tell(&o[1], take(1));
	stands(f, 1, 1);
}

static void
first_releases(struct agent *o, struct flk *f)
{
	agent_do(&o[0], release);
	runs_alone(&o[1], "the second");
	if (alone)
		runs_alone(&o[2], "the third");
	if (!alone)
		units_used(f);
}

static void
third_comes_first_releases(struct agent *o, struct flk *f)
{
	agent_tell(&o[2], take(1));
	first_releases(o, f);
}

static int
come_and_go(struct flk_taker *t)
{
	struct flk_taker *mine;
	int error = flk_taker_new(&mine, t->flk);

	if (error == 0)
		error = flk_acquire(mine, &all_of_it, NULL);
	if (error == 0)
		error = flk_release(mine);
	flk_taker_free(mine);
	return error;
}

static void
newcomer_takes_all(struct agent *o, struct flk *f)
{
	agent_tell(&o[0], take(2));
	runs_alone(&o[0], "a newcomer");
	if (!alone)
		units_used(f);
}

static void
nothing_runs(struct agent *o, struct flk *f)
{
	(void)o;
	steer_override(f, 0);
}

static int
lift_override(struct flk_taker *t)
{
	return steer_override(t->flk, FLK_AUTO);
}

static void
after_override(struct agent *o, struct flk *f)
{
	if (__atomic_load_n(&f->file.h->override, __ATOMIC_ACQUIRE) != FLK_AUTO)
		steer_override(f, FLK_AUTO);
	three_go_on(o, f);
}

static int
close_it(struct flk_taker *t)
{
	return steer_close(t->flk);
}

static void
after_close(struct agent *o, struct flk *f)
{
	int i;

	if (!__atomic_load_n(&f->file.h->closed, __ATOMIC_ACQUIRE))
		steer_close(f);
	for (i = 0; i < 3 && alone; i++)
		if (!agent_answered(&o[i], ALONE_MS)) {
			alone = false;
			who_did_not = "one of those who wait";
		}
	units_used(f);
	for (i = 0; i < 3; i++)
		if (agent_hear(&o[i]).code != -FLK_CLOSED) {
			alone = false;
			who_did_not = "closed for one";
		}
	steer_open(f);
	steer_override(f, FLK_AUTO);
}

/* The victim stands first, and finds that the holder is dead. */
static pid_t dead_holder;

static void
someone_holds(struct agent *o, struct flk *f)
{
	(void)o;
	dead_holder = fork_child();
	if (dead_holder == 0) {
		if (acquire_all(taker(f)) != 0)
			_exit(1);
		for (;;)
			pause();
	}
	stands(f, 1, 0);
}

static void
holder_dies(struct agent *o, struct flk *f)
{
	line_of_three(o, f);
	kill(dead_holder, SIGKILL);
	reap_child(dead_holder);
}

static int
wait_for_it(struct flk_taker *t)
{
	return flk_wait(t, NULL, NULL);
}

/* Somebody died inside and left an index that is nonsense; the victim is who repairs it. */
static void
index_is_broken(struct agent *o, struct flk *f)
{
	pid_t pid;

	agent_tell(&o[1], take(1));
	stands(f, 1, 1);
	agent_tell(&o[2], take(1));
	stands(f, 1, 2);
	pid = fork_child();
	if (pid == 0) {
		struct flk_taker *t = taker(f);
		struct state st;
		if (flki_enter(t, &st) != 0)
			_exit(1);
		st.h->waiting = st.h->holders = (struct list){ 77, 3, 1 };
		st.h->used = 99;
		st.h->barriers = 3;
		st.h->min_count = 4;
		st.slots[0].next = st.slots[1].next = 1;
		st.slots[0].seat_bits = 0xf0f0;
		raise(SIGKILL);
	}
	reap_child(pid);
}

static int
take_a_snapshot(struct flk_taker *t)
{
	struct flk_snapshot *s = NULL;
	int error = flk_snapshot(t->flk, &s);

	free(s);
	return error;
}

static const struct scene scenes[] = {
	{ "a release", NULL, acquire_all, flk_release, line_of_three, three_go_on },
	{ "a partial release", NULL, acquire_all, release_one, line_of_three, three_go_on },
	{ "a forget", NULL, acquire_all, flk_forget, line_of_three, after_forgetting },
	{ "an enqueue", one_before, NULL, enqueue_all, NULL, third_comes_first_releases },
	{ "a leave", first_holds, enqueue_all, flk_leave, two_behind, first_releases },
	{ "a permit without a wait", NULL, NULL, come_and_go, NULL, newcomer_takes_all },
	{ "an override's end", nothing_runs, NULL, lift_override, line_of_three, after_override },
	{ "a close", nothing_runs, NULL, close_it, line_of_three, after_close },
	{ "a mend", someone_holds, enqueue_all, wait_for_it, holder_dies, three_go_on },
	{ "a repair", first_holds, NULL, take_a_snapshot, index_is_broken, first_releases },
};

/* The victim: its own steps lie between two stops. */
static pid_t
start_victim(const struct scene *scene, struct flk *f)
{
	pid_t pid = fork_child();
	int status;

	if (pid != 0) {
		if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
			tap_bail("the victim of %s does not get ready", scene->name);
		return pid;
	}
	/* its own mapping too, as any process has */
	f = attach(flk_path(f));
	struct flk_taker *t = taker(f);
	if (scene->victim_first != NULL && scene->victim_first(t) != 0)
		_exit(1);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	scene->victim_steps(t);
	raise(SIGSTOP);
	_exit(0);
}

/*
 * A step of the victim is an instruction.  Where a locked operation is a loop of load-linked and
 * store-conditional, stepping through it never ends it, and the kernels of arm and riscv do not step
 * at all: there, a step is a nanosecond.
 */
#if defined(__x86_64__) || defined(__i386__) || defined(__s390x__)
#define STEP     "instructions"
#define BY_CLOCK 0
#else
#define STEP     "nanoseconds"
#define BY_CLOCK 1
#endif

static long
walk_by_clock(pid_t pid, long steps, int *status)
{
	uint64_t begun = now_ns();
	long done = 0;

	if (ptrace(PTRACE_CONT, pid, NULL, NULL) == -1)
		tap_bail("ptrace");
	while (done < steps && waitpid(pid, status, WNOHANG) == 0)
		done = (long)(now_ns() - begun);
	return done;
}

static long
walk_by_instruction(pid_t pid, long steps, int *status)
{
	long done = 0;

	while (done < steps) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == -1 ||
		    waitpid(pid, status, 0) != pid)
			tap_bail("ptrace");
		if (!WIFSTOPPED(*status) || WSTOPSIG(*status) != SIGTRAP)
			break;
		done++;
	}
	return done;
}

/* Kills the victim after so many steps, or at its second stop; returns how many it was. */
static long
walk(pid_t pid, long steps)
{
	int status = 0;
	long done = BY_CLOCK ? walk_by_clock(pid, steps, &status)
			     : walk_by_instruction(pid, steps, &status);

	kill(pid, SIGKILL);
	if (!WIFEXITED(status) && !WIFSIGNALED(status))
		reap_child(pid);
	return done;
}

/* Code that a sanitizer has made several times as long is stepped through fewer times. */
#ifdef __SANITIZE_ADDRESS__
#define INSTRUMENTED 1
#else
#define INSTRUMENTED 0
#endif

static void
play(const struct scene *scene, int rounds)
{
	struct flk *f = fresh(2);
	struct agent o[3];
	long total = LONG_MAX, steps = 0;
	int i, late = 0, broken = 0;
	char why[200] = "";
	pid_t victim;

	for (i = 0; i < 3; i++)
		o[i] = agent_start(flk_path(f));
	for (i = 0; i < rounds; i++) {
		alone = true;
		if (scene->prepare != NULL)
			scene->prepare(o, f);
		victim = start_victim(scene, f);
		if (scene->line_up != NULL)
			scene->line_up(o, f);
		/* First all of it; then up to anywhere. */
		steps = i == 0 ? LONG_MAX : (long)random_below((uint32_t)total + 1);
		steps = walk(victim, steps);
		if (i == 0)
			total = steps;
		scene->go_on(o, f);
		if (!alone && late++ < 3)
			tap_note("killed after %ld of %ld steps: not %s", steps, total,
				 who_did_not);
		settle(o);
		if ((flk_check(f, why, sizeof(why)) != 0 || units_used(f) != 0) && broken++ < 3)
			tap_note("killed after %ld of %ld steps: %s; %llu units used", steps, total,
				 why, (unsigned long long)units_used(f));
		if (late + broken > 10)
			break;
	}
	is(late, 0, "killed at any of %ld " STEP " of %s: the rest goes on by itself", total,
	   scene->name);
	is(broken, 0, "and nothing is broken or lost");
	for (i = 0; i < 3; i++)
		agent_stop(&o[i]);
	flk_detach(f);
}

/* ---- how soon ---- */

#define CROWD 12

static int
by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/*
 * One holds and the others wait; those with a bit in `victims' are killed at one stroke (bit 0:
 * the holder), and the holder with them if it is not one.  The first that is left must run next,
 * and the rest after it, in order.
 */
static uint64_t
massacre(unsigned victims, bool *in_order)
{
	struct flk *f = fresh(1);
	struct agent a[CROWD];
	uint64_t killed, next = 0;
	int i, last = -1;

	for (i = 0; i < CROWD; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		if (!stands(f, 1, i))
			tap_bail("nobody comes");
	}
	agent_hear(&a[0]);
	killed = now_ns();
	for (i = 0; i < CROWD; i++)
		if (victims >> i & 1)
			kill(a[i].pid, SIGKILL);
	if (!(victims & 1)) {
		agent_tell(&a[0], release);
		agent_hear(&a[0]);
	}
	for (i = 1; i < CROWD; i++) {
		struct answer answer;
		if (victims >> i & 1)
			continue;
		answer = agent_hear(&a[i]);
		if (next == 0)
			next = answer.when_ns - killed;
		else if (agent_answered(&a[i], 0))
			*in_order = false;
		if (answer.code != 0 || (int)answer.permit.ticket <= last)
			*in_order = false;
		last = (int)answer.permit.ticket;
		if (agent_do(&a[i], release).code != 0)
			*in_order = false;
	}
	for (i = 0; i < CROWD; i++)
		victims >> i & 1 ? agent_reap(&a[i]) : agent_stop(&a[i]);
	if (flk_check(f, NULL, 0) != 0 || units_used(f) != 0)
		*in_order = false;
	flk_detach(f);
	return next;
}

/*
 * What any heir's wait costs here and now: one process is killed, and another, which sleeps in a read
 * of a pipe, reads its end.  A busy machine makes both it and us late.
 */
static uint64_t
death_on_a_pipe(void)
{
	int life[2], news[2];
	uint64_t killed, heard = 0;
	pid_t victim, heir;
	char c;

	if (pipe2(life, O_CLOEXEC) == -1 || pipe2(news, O_CLOEXEC) == -1)
		tap_bail("pipe");
	victim = fork_child();
	if (victim == 0)
		for (;;)
			pause();
	heir = fork_child();
	if (heir == 0) {
		close(life[1]);
		if (read(life[0], &c, 1) != 0)
			_exit(1);
		heard = now_ns();
		_exit(write(news[1], &heard, sizeof(heard)) != sizeof(heard));
	}
	close(life[1]);
	close(news[1]);
	until_asleep(heir);
	killed = now_ns();
	kill(victim, SIGKILL);
	if (read(news[0], &heard, sizeof(heard)) != sizeof(heard))
		tap_bail("a pipe's end is not heard");
	close(life[0]);
	close(news[0]);
	reap_child(victim);
	reap_child(heir);
	return heard - killed;
}

/* Without futex_waitv, the next looks once in 100 ms for each place from the head. */
static void
test_massacre(const char *whom, unsigned victims)
{
	enum { ROUNDS = 15 };
	uint64_t took[ROUNDS], peer[ROUNDS], bound = slow_tick() ? 1500000000 : 20000000;
	bool in_order = true;
	int i;

	for (i = 0; i < (slow_tick() ? 3 : ROUNDS); i++) {
		took[i] = massacre(victims, &in_order);
		peer[i] = death_on_a_pipe();
	}
	qsort(took, (size_t)i, sizeof(took[0]), by_size);
	qsort(peer, (size_t)i, sizeof(peer[0]), by_size);
	tap_note("kill -9 of %s: the next runs after %.0f us (median), at most %.0f us; a pipe's "
		 "reader after %.0f us",
		 whom, (double)took[i / 2] / 1e3, (double)took[i - 1] / 1e3,
		 (double)peer[i / 2] / 1e3);
	ok(in_order, "kill -9 of %s: the rest goes on in order", whom);
	ok(took[i / 2] < bound + 20 * peer[i / 2], "soon");
}

/* ---- stopped ---- */

static void
test_stopped_head(void)
{
	struct flk *f = fresh(1);
	struct agent a[4];
	char why[200];
	int i;

	for (i = 0; i < 4; i++) {
		a[i] = agent_start(flk_path(f));
		agent_tell(&a[i], (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
		stands(f, 1, i);
	}
	agent_hear(&a[0]);
	stop_child(a[1].pid);
	is(agent_do(&a[0], release).code, 0, "the head is stopped, the holder releases");
	ok(stands(f, 1, 2), "the head holds");
	is(flk_check(f, why, sizeof(why)), 0, "nothing is broken");
	ok(!agent_answered(&a[2], 50), "nobody overtakes it");
	kill(a[1].pid, SIGCONT);
	is(agent_hear(&a[1]).code, 0, "it runs when it is continued");
	stop_child(a[2].pid);
	agent_kill(&a[1], SIGKILL);
	ok(stands(f, 1, 1), "the next is stopped, the holder killed: it holds");
	agent_kill(&a[2], SIGKILL);
	is(agent_hear(&a[3]).code, 0, "killed while it was stopped: the last runs");
	is(agent_do(&a[3], release).code, 0, "and releases");
	agent_stop(&a[0]);
	agent_stop(&a[3]);
	whole(f, "after stops");
	flk_detach(f);
}

/* A process that has the lock and is stopped there; when it goes on, it ends with 0. */
static pid_t
stop_inside(struct flk *f)
{
	pid_t pid = fork_child();
	struct state st;
	int status;

	if (pid == 0) {
		struct flk_taker *mine = taker(f);
		if (flki_enter(mine, &st) != 0)
			_exit(1);
		raise(SIGSTOP);
		_exit(flki_quit(mine, &st) == 0 ? 0 : 1);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		tap_bail("it does not stop");
	return pid;
}

static void
test_stopped_inside(bool is_killed)
{
	struct flk *f = fresh(2);
	struct flk_taker *t = taker(f), *waits = taker(f), *many[16];
	struct agent a = agent_start(flk_path(f));
	char why[200];
	struct flk_place place;
	int i, busy = 0;
	uint64_t start, took;
	pid_t pid;
	int code;

	agent_do(&a, take(2));
	is(flk_enqueue(waits, &all_of_it), -EINPROGRESS, "one waits");
	pid = stop_inside(f);
	start = now_ns();
	code = flk_try(t, &all_of_it);
	took = (now_ns() - start) / 1000000;
	is(code, -FLK_STUCK, "stopped where it keeps everyone out");
	ok(took > 1500 && took < ALONE_MS, "after 2 s, and not after a minute (%d ms)", (int)took);
	is(flk_stuck_pid(f), pid, "and it is known who");
	flk_taker_free(waits); /* can't leave the line either: it is as good as dead */
	if (is_killed) {
		kill(pid, SIGKILL);
		is(WTERMSIG(reap_child(pid)), SIGKILL, "killed");
	} else {
		kill(pid, SIGCONT);
		is(reap_child(pid), 0, "continued");
	}
	/* Somebody claims each slot that looks free. */
	for (i = 0; i < 16; i++) {
		many[i] = taker(f);
		flk_place(many[i], &place);
	}
	for (i = 0; i < 16; i++)
		busy += flk_try(many[i], &all_of_it) == -EAGAIN;
	is(busy, 16, "the permit is held as before");
	is(flk_check(f, why, sizeof(why)), 0, "and nothing is broken");
	for (i = 0; i < 16; i++)
		flk_taker_free(many[i]);
	is(agent_do(&a, release).code, 0, "then it can be released");
	is(flk_acquire(t, &all_of_it, NULL), 0, "and taken again");
	agent_stop(&a);
	flk_taker_free(t);
	whole(f, is_killed ? "after one killed inside" : "after one stopped inside");
	flk_detach(f);
}

/* What fails has changed nothing: the command still has the permit, and its guard. */
static void
test_forget_kept_out(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	int guard;
	pid_t pid;

	ok(flk_acquire(t, &all_of_it, NULL) == 0 && flk_guard(t, &guard) == 0, "a permit, tied");
	pid = stop_inside(f);
	is(flk_forget(t), -FLK_STUCK, "it can't be forgotten");
	ok(!flki_guard_is_free(f, flk_slot(t)), "and keeps its guard");
	kill(pid, SIGCONT);
	is(reap_child(pid), 0, "the one inside goes on");
	is(flk_forget(t), 0, "then it can");
	ok(flki_guard_is_free(f, flk_slot(t)), "and its guard ends");
	is(steer_restore(f, 1), 0, "its units come back");
	flk_taker_free(t);
	whole(f, "after a permit was forgotten");
	flk_detach(f);
}

/* ---- a lock that another keeps: who waits on, and how it ends ---- */

static _Atomic int asked;
static _Atomic pid_t asked_about;
static _Atomic uint64_t asked_first;

/* Its context: how often to wait on. */
static bool
on_stuck(void *context, pid_t pid)
{
	if (atomic_fetch_add(&asked, 1) == 0)
		asked_first = now_ns();
	asked_about = pid;
	return asked <= *(const int *)context;
}

/* Nobody gives up, and nobody loses anything, but by its own deadline. */
static void
test_kept_out(bool is_killed)
{
	struct flk *f = fresh(1);
	struct agent holds = agent_start(flk_path(f)), first = agent_start(flk_path(f)),
		     hasty = agent_start(flk_path(f)), newcomer = agent_start(flk_path(f));
	struct order take_one = { .kind = ACQUIRE, .limit = 1, .ms = -1 }, hurry = take_one;
	uint64_t start, took;
	pid_t pid;

	hurry.ms = 700;
	agent_do(&holds, take_one);
	agent_tell(&first, take_one);
	ok(stands(f, 1, 1), "one holds and one waits");
	pid = stop_inside(f);
	start = now_ns();
	agent_tell(&hasty, hurry);
	agent_tell(&newcomer, take_one);
	is(agent_hear(&hasty).code, -ETIMEDOUT, "one in a hurry gives up at its deadline");
	took = (now_ns() - start) / 1000000;
	ok(took >= 650 && took < ALONE_MS, "and not after a minute (%d ms)", (int)took);
	is(agent_do(&holds, release).code, 0, "the holder has released, as far as it can");
	ok(!agent_answered(&first, 1500), "the waiter does not give up");
	ok(!agent_answered(&newcomer, 0), "nor does a newcomer");
	kill(pid, is_killed ? SIGKILL : SIGCONT);
	reap_child(pid);
	is(agent_hear(&first).code, 0, "then the waiter is served, in its place");
	ok(!agent_answered(&newcomer, 20), "and not the newcomer");
	is(agent_do(&first, release).code, 0, "it releases");
	is(agent_hear(&newcomer).code, 0, "and the newcomer is served");
	is(agent_do(&newcomer, release).code, 0, "and releases");
	agent_stop(&holds);
	agent_stop(&first);
	agent_stop(&hasty);
	agent_stop(&newcomer);
	whole(f, is_killed ? "after the one inside was killed" : "after the one inside went on");
	flk_detach(f);
}

static struct flk_taker *to_cancel;

static void
cancel_it(int sig)
{
	(void)sig;
	flk_cancel(to_cancel);
}

static void
test_asked(void)
{
	static int most;
	struct flk_options options = { .existing = true, .stuck = on_stuck, .context = &most };
	struct sigaction handle = { .sa_handler = cancel_it };
	struct flk *f = fresh(2), *mine;
	struct flk_taker *t, *waits;
	struct agent a = agent_start(flk_path(f));
	struct flk_permit permit;
	sigset_t alarm_only, none;
	uint64_t start;
	pid_t pid;

	if (flk_attach(&mine, flk_path(f), &options) != 0)
		tap_bail("attach");
	t = taker(mine);
	waits = taker(mine);
	agent_do(&a, take(2));
	is(flk_enqueue(waits, &all_of_it), -EINPROGRESS, "one waits");
	pid = stop_inside(f);

	most = 5;
	start = now_ns();
	is(flk_try(t, &all_of_it), -FLK_STUCK, "stuck() decides when to give up");
	ok(asked == 6 && asked_about == pid, "after it was asked %d times about it", asked);
	ok(asked_first - start > 1500000000u && now_ns() - asked_first > 400000000u,
	   "first after 2 s, and then ten times a second");
	asked = 0;
	most = 1;
	is(flk_wait(waits, NULL, NULL), -FLK_STUCK, "a wait can be given up for now");

	/* A signal that is blocked but for the wait. */
	to_cancel = waits;
	sigaction(SIGALRM, &handle, NULL);
	sigemptyset(&none);
	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	sigprocmask(SIG_BLOCK, &alarm_only, NULL);
	raise(SIGALRM);
	most = 1000;
	start = now_ns();
	is(flk_wait(waits, NULL, &none), -FLK_CANCELLED, "a signal is let in, and ends it");
	ok(now_ns() - start < 3000000000u, "soon");
	sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	is(flk_permit(waits, &permit), -FLK_NOPERMIT, "it stands in the line no more");
	kill(pid, SIGCONT);
	is(reap_child(pid), 0, "the one inside goes on");
	is(agent_do(&a, release).code, 0, "the holder releases");
	is(flk_try(t, &all_of_it), 0, "and nobody is in the way");
	is(flk_release(t), 0, "it releases");
	flk_taker_free(t);
	flk_taker_free(waits);
	flk_detach(mine);
	agent_stop(&a);
	whole(f, "after stuck() was asked");
	flk_detach(f);
}

int
main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : INSTRUMENTED ? 2 : slow_tick() ? 5 : 20;
	unsigned i;

	begin();
	if (argc > 1)
		alarm(3600);
	random_seed(argc > 2 ? strtoull(argv[2], NULL, 10) : now_ns());
	for (i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++)
		play(&scenes[i], rounds);
	test_massacre("the holder", 1);
	test_massacre("the head of the line", 2);
	test_massacre("the second in the line", 4);
	test_massacre("the holder and the first five", 0x3f);
	test_massacre("every second", 0x555);
	test_stopped_head();
	test_stopped_inside(false);
	test_stopped_inside(true);
	test_forget_kept_out();
	test_kept_out(false);
	test_kept_out(true);
	test_asked();
	return tap_done();
}
