/* SPDX-License-Identifier: ISC */
/*
 * history.c - what a limiter remembers, and what an operator can do to it from outside.
 *
 * The linker sends the library's calls of syscall() here (--wrap), so that an operator can act right
 * before a follower sleeps.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "futex.h"
#include "internal.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

long __real_syscall(long number, ...);
long __wrap_syscall(long number, long a, long b, long c, long d, long e, long f);

static struct flk *removed_before_sleep; /* by the thread that sleeps next, once */

/* syscall() itself takes six of whatever its caller gave: an argument that is not there is garbage
 * that the kernel does not look at.  Through va_arg the address sanitizer would call that an error. */
long
__wrap_syscall(long number, long a, long b, long c, long d, long e, long f)
{
	struct flk *removed = removed_before_sleep;

	if (removed != NULL && (number == SYS_futex_waitv || number == FUTEX_CALL)) {
		removed_before_sleep = NULL;
		is(flk_remove(removed), 0, "it is removed right before its follower sleeps");
	}
	return __real_syscall(number, a, b, c, d, e, f);
}

static const struct flk_request one = { .weight = 1, .limit = 1, .command = "/bin/make -j8" };

static struct flk_event seen[FLK_HISTORY];

static size_t
look(struct flk *f, uint64_t number)
{
	return flk_history(f, number, seen, FLK_HISTORY);
}

static bool
happened(size_t k, uint32_t kind, uint64_t ticket, int code)
{
	return seen[k].number == k + 1 && seen[k].kind == kind && seen[k].ticket == ticket &&
	       seen[k].code == code;
}

static int
wait_ms(struct flk_taker *t, int ms)
{
	struct timespec until = in_ms(ms);

	return flk_wait(t, &until, NULL);
}

/* ---- what is written ---- */

static void
test_life(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	bool in_time = true;
	size_t k, n;

	is(look(f, 0), 0, "nothing has happened yet");
	flk_acquire(a, &one, NULL);
	flk_enqueue(b, &one);
	flk_enqueue(c, &one);
	wait_ms(c, 1);
	flk_leave(c);
	is(flk_ended(a, 3 << 8), 0, "its status is told");
	is(flk_took(a, 5000, 2500000), 0, "and what it took");
	flk_release(a);
	is(flk_ended(a, 0), -FLK_NOPERMIT, "not without a permit");
	is(wait_ms(b, 1000), 0, "the next runs");
	flk_release(b);
	n = look(f, 0);
	is(n, 7, "all that is remembered");
	ok(happened(0, FLK_EV_GRANTED, 1, 0), "granted at once");
	ok(happened(1, FLK_EV_QUEUED, 2, 0) && happened(2, FLK_EV_QUEUED, 3, 0), "two queue");
	ok(happened(3, FLK_EV_LEFT, 3, -ETIMEDOUT), "one gives up");
	ok(happened(4, FLK_EV_RELEASED, 1, 3 << 8), "the first ends, with its status");
	ok(happened(5, FLK_EV_GRANTED, 2, 0), "and the second follows");
	ok(happened(6, FLK_EV_RELEASED, 2, FLK_UNKNOWN), "and ends without one");
	ok(seen[4].memory == 5120 && seen[4].cpu_ns == 2000000,
	   "what it took, in whole KiB above and whole ms below");
	ok(seen[6].memory == 0 && seen[6].cpu_ns == 0, "nothing is known of the second");
	ok(seen[0].limit == 1 && seen[1].limit == 1 && seen[4].limit == 0 && seen[6].limit == 0,
	   "the limit is in all of them but the ends");
	is(strcmp(seen[0].command, "make"), 0, "known by the command's name");
	is(seen[0].pid, getpid(), "and the process");
	for (k = 1; k < n; k++)
		in_time &= seen[k].when_ns >= seen[k - 1].when_ns;
	ok(in_time, "in the order of time");
	is(look(f, 5), 2, "from there on");
	is(seen[0].number, 6, "and no earlier");
	is(flk_history(f, 0, seen, 3), 3, "as many as there is room for");
	is(seen[2].number, 3, "oldest first");
	is(look(f, 7), 0, "nothing after the last");
	is(look(f, 1000), 0, "nor after what is not yet");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_taker_free(c);
	whole(f, "after that");
	flk_detach(f);
}

static void
test_steering(void)
{
	struct flk *f = fresh(4);
	struct flk_request two = { .weight = 2, .limit = 4 }, four = { .weight = 4, .limit = 4 };
	struct flk_taker *t = taker(f);
	pid_t pid;

	steer_override(f, 7);
	steer_override(f, FLK_AUTO);
	steer_pause(f);
	steer_resume(f);
	steer_close(f);
	steer_open(f);
	steer_limit(f, 5);
	flk_acquire(t, &two, NULL);
	flk_release_units(t, 1);
	flk_forget(t);
	steer_restore(f, 1);
	is(look(f, 0), 11, "what operators do is remembered");
	ok(happened(0, FLK_EV_OVERRIDE, 0, 7) && happened(1, FLK_EV_OVERRIDE, 0, FLK_AUTO),
	   "limits");
	ok(happened(2, FLK_EV_PAUSED, 0, 0) && happened(3, FLK_EV_RESUMED, 0, 0), "pauses");
	ok(happened(4, FLK_EV_CLOSED, 0, 0) && happened(5, FLK_EV_OPENED, 0, 0), "doors");
	ok(happened(6, FLK_EV_DECLARED, 0, 5), "defaults");
	ok(happened(8, FLK_EV_UNITS, 1, 1) && happened(9, FLK_EV_FORGOT, 1, 1) &&
	       happened(10, FLK_EV_RESTORED, 0, 1),
	   "units");
	pid = fork_child();
	if (pid == 0) {
		struct flk *mine = attach(flk_path(f));
		_exit(flk_acquire(taker(mine), &two, NULL) != 0);
	}
	is(reap_child(pid), 0, "one dies with its permit");
	flk_acquire(t, &four, NULL);
	look(f, 0);
	ok(happened(12, FLK_EV_REAPED, 2, 1), "which is remembered");
	is(seen[12].pid, pid, "with its pid");
	flk_release(t);
	pid = fork_child();
	if (pid == 0) {
		struct flk *mine = attach(flk_path(f));
		struct flk_taker *its = taker(mine);
		int fd;
		_exit(flk_entrust(its) != -FLK_NOPERMIT || flk_acquire(its, &two, NULL) != 0 ||
		      flk_entrust(its) != -FLK_NOPERMIT || flk_guard(its, &fd) != 0 ||
		      flk_entrust(its) != 0);
	}
	is(reap_child(pid), 0, "one leaves its permit to others, of whom there are none");
	flk_acquire(t, &four, NULL);
	look(f, 0);
	ok(happened(16, FLK_EV_RELEASED, 4, FLK_UNKNOWN), "it was not killed, it ended");
	flk_taker_free(t);
	whole(f, "after steering");
	flk_detach(f);
}

/* ---- the ring ---- */

static void
test_wrap(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	bool in_order = true;
	size_t k, n;
	int i;

	for (i = 0; i < 5000; i++) {
		flk_acquire(t, &one, NULL);
		flk_release(t);
	}
	n = look(f, 0);
	is(n, FLK_HISTORY, "the last 4096 of 10000");
	is(seen[n - 1].number, 10000, "up to the last");
	for (k = 1; k < n; k++)
		in_order &= seen[k].number == seen[k - 1].number + 1 &&
			    seen[k].kind == (seen[k].number % 2 ? FLK_EV_GRANTED : FLK_EV_RELEASED);
	ok(in_order, "without a gap");
	flk_taker_free(t);
	flk_detach(f);
}

static _Atomic bool enough;

static void *
churn(void *arg)
{
	struct flk *f = arg;
	struct flk_taker *t = taker(f);

	while (!atomic_load(&enough)) {
		flk_acquire(t, &one, NULL);
		flk_ended(t, 77);
		flk_release(t);
	}
	flk_taker_free(t);
	return NULL;
}

/* Every event that is returned while others are written is whole. */
static void
test_race(void)
{
	struct flk *f = fresh(1);
	uint64_t number = 0, read = 0, torn = 0;
	pthread_t thread;
	size_t k, n;

	pthread_create(&thread, NULL, churn, f);
	while (number < 200000) {
		n = look(f, number);
		for (k = 0; k < n; k++) {
			const struct flk_event *e = &seen[k];
			bool granted = e->number % 2 == 1;
			torn += e->kind != (granted ? FLK_EV_GRANTED : FLK_EV_RELEASED) ||
				e->ticket != (e->number + 1) / 2 || e->code != (granted ? 0 : 77);
		}
		read += n;
		number = n > 0 ? seen[n - 1].number : number;
	}
	atomic_store(&enough, true);
	pthread_join(thread, NULL);
	is(torn, 0, "none of %llu events that were read under way is torn",
	   (unsigned long long)read);
	flk_detach(f);
}

/* ---- following ---- */

static void
test_follow(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	struct timespec past = in_ms(0);
	int pipes[2], i;
	pid_t pid;
	char byte;

	is(flk_follow(f, 0, &past), -ETIMEDOUT, "nothing to follow");
	if (pipe2(pipes, O_CLOEXEC) == -1)
		tap_bail("pipe");
	pid = fork_child();
	if (pid == 0) {
		struct flk *mine = attach(flk_path(f));
		uint64_t number = 0;
		for (i = 0; i < 100; i++) {
			struct timespec late = in_ms(PATIENCE_MS);
			if (flk_follow(mine, number, &late) != 0 || look(mine, number++) == 0 ||
			    seen[0].number != number || write(pipes[1], "", 1) != 1)
				_exit(1);
		}
		_exit(0);
	}
	for (i = 0; i < 50; i++) {
		flk_acquire(t, &one, NULL);
		if (read(pipes[0], &byte, 1) != 1)
			break;
		flk_release(t);
		if (read(pipes[0], &byte, 1) != 1)
			break;
	}
	is(i, 50, "a follower hears of each event as it happens");
	is(reap_child(pid), 0, "and of no other");
	pid = fork_child();
	if (pid == 0) {
		flk_follow(attach(flk_path(f)), 100, NULL);
		_exit(0);
	}
	while (atomic_load(&f->file.h->followed) == 0)
		sched_yield();
	kill(pid, SIGKILL);
	reap_child(pid);
	flk_acquire(t, &one, NULL);
	is(atomic_load(&f->file.h->followed), 0,
	   "a killed follower is forgotten at the next event");
	flk_taker_free(t);
	whole(f, "after followers");
	flk_detach(f);
}

/* The wake of the removal finds no sleeper, and no other process will ever wake one. */
static void
test_follow_removed(void)
{
	struct flk *f = fresh(1), *operators = attach(flk_path(f));
	struct timespec until = in_ms(PATIENCE_MS);

	removed_before_sleep = operators;
	is(flk_follow(f, 0, &until), -FLK_GONE, "which hears of it");
	flk_detach(f);
	flk_detach(operators);
}

/* ---- taken out of the line ---- */

static void
test_evict(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	pid_t by = 0;
	uid_t user = 77;

	flk_acquire(a, &one, NULL);
	flk_enqueue(b, &one);
	flk_enqueue(c, &one);
	is(flk_evict(f, 1), -FLK_NOPERMIT, "who holds does not wait");
	is(flk_evict(f, 9), -FLK_NOPERMIT, "nobody has that ticket");
	is(flk_evict(f, 2), 0, "the head is taken out");
	is(wait_ms(b, 1000), -FLK_EVICTED, "and hears so");
	flk_evictor(b, &by, &user);
	is(by, getpid(), "and by which process");
	is(user, getuid(), "of which user");
	flk_release(a);
	is(wait_ms(c, 1000), 0, "the next one gets its turn");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_taker_free(c);
	whole(f, "after that");
	flk_detach(f);
}

/* ---- removed ---- */

static void
test_remove(void)
{
	struct flk_options existing = { .existing = true };
	struct flk *f = fresh(1), *g = NULL;
	struct flk_taker *t = taker(f), *late = taker(f);
	char path[200];
	struct stat sb;

	snprintf(path, sizeof(path), "%s", flk_path(f));
	flk_acquire(t, &one, NULL);
	is(flk_remove(f), -FLK_BUSY, "not while somebody holds");
	flk_enqueue(late, &one);
	flk_release(t);
	is(flk_remove(f), -FLK_BUSY, "nor just after somebody was granted");
	flk_leave(late);
	is(flk_remove(f), 0, "removed");
	is(stat(path, &sb), -1, "it has no name any more");
	is(flk_try(t, &one), -FLK_GONE, "and gives no permit");
	is(flk_remove(f), 0, "nothing is left to remove");
	is(flk_attach(&g, path, &existing), -ENOENT, "there is no such limiter");
	flk_taker_free(t);
	flk_taker_free(late);
	flk_detach(f);
	f = attach(path);
	ok(flk_verify(f) == 0, "a newcomer makes a new one");
	/* An operator who was killed between the mark and the unlink. */
	atomic_store(&f->file.h->dead, 1);
	g = attach(path);
	ok(g->file.h->birth != f->file.h->birth, "a dead one in the way is taken away");
	is(flk_remove(f), 0, "the late operator removes");
	is(flk_verify(g), 0, "nothing of the new one's");
	is(flk_remove(g), 0, "which is removed in its turn");
	flk_detach(f);
	flk_detach(g);
}

static void
test_existing(void)
{
	struct flk_options existing = { .existing = true };
	const char *path = fresh_path();
	struct flk *f = NULL;
	struct stat sb;
	int fd;

	is(flk_attach(&f, path, &existing), -ENOENT, "a look makes nothing");
	is(stat(path, &sb), -1, "indeed");
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	close(fd);
	is(flk_attach(&f, path, &existing), -ENOENT, "nor of an empty file");
	is(stat(path, &sb) == 0 && sb.st_size == 0, 1, "which stays empty");
	unlink(path);
}

/* ---- repaired ---- */

static void
test_repair(void)
{
	struct flk_options damaged = { .existing = true, .damaged = true };
	struct flk *f = fresh(4), *g = NULL;
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_request four = { .weight = 4, .limit = 4 };
	struct slot *slots = f->file.slots;
	char why[500];

	flk_acquire(a, &one, NULL);
	flk_enqueue(b, &four);
	flk_enqueue(c, &four);
	/* Two with one ticket, a weight and a seat that can't be, a sum that is wrong. */
	slots[flk_slot(b)].ticket = slots[flk_slot(c)].ticket;
	slots[flk_slot(a)].weight = 0;
	slots[flk_slot(a)].seat = 4000000;
	f->file.h->used = 99;
	is(flk_check(f, why, sizeof(why)), -FLK_DAMAGED, "it is found out");
	ok(strchr(why, '\n') != NULL, "each failure has its line");
	atomic_store(&f->file.h->damaged, 1);
	is(flk_attach(&g, flk_path(f), NULL), -FLK_DAMAGED, "nobody uses it");
	is(flk_attach(&g, flk_path(f), &damaged), 0, "but who repairs it");
	is(flk_repair(g), 0, "repaired");
	is(flk_check(g, why, sizeof(why)), 0, "it is whole");
	is(units_used(f), 1, "who runs keeps its permit");
	flk_release(a);
	is(wait_ms(b, 1000), -FLK_EVICTED, "one of the two with one ticket is out");
	is(wait_ms(c, 1000), 0, "the other runs");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_taker_free(c);
	whole(f, "after the repair");
	flk_detach(f);
	flk_detach(g);
}

int
main(void)
{
	begin();
	test_life();
	test_steering();
	test_wrap();
	test_race();
	test_follow();
	test_follow_removed();
	test_evict();
	test_remove();
	test_existing();
	test_repair();
	return tap_done();
}
