/* SPDX-License-Identifier: ISC */
/*
 * orphans.c - how long lib/orphan.c lets a permit without a taker last, and who waits for its end: with
 * a clock, guards and commands of our own, which can be in states that pass in an instant.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#undef PATIENCE_MS /* the library's own, below */
#include "internal.h"
#include "bytelock.h"
#include "cancel.h"
#include "clock.h"
#include "exiting.h"
#include "thread.h"

#define SLOT    3
#define TICKET  77
#define COMMAND 4711
#define HERE    4026531836 /* the number of a PID namespace */

/* ---- a world of our own ---- */

static struct header page;
static struct slot slots[FIRST_SLOTS];
static struct flk limiter;
static struct slot *const mine = &slots[SLOT];

static bool guard_is_free;
static uint32_t here;
static enum { NONE, RUNNING, ENDING } doing; /* what process COMMAND does */
static uint64_t the_time, awaited_until;
static int awaited_end, awaited_exit, others_awaited, guards_awaited, given_back, wakes, ticks,
    guard_error;
static int threads_fail, allocations_fail;
static void *(*started)(void *);
static void *argument, *kept[64]; /* those that no thread frees */
static unsigned kept_count;

static bool
fake_guard_is_free(const struct flk *f, uint32_t slot)
{
	return f == &limiter && slot == SLOT && guard_is_free;
}

static bool
fake_runs_since(pid_t pid, uint64_t after, uint64_t before)
{
	return pid == COMMAND && doing == RUNNING && after == 5 && before == 6;
}

static bool
fake_is_exiting(pid_t pid)
{
	return pid == COMMAND && doing == ENDING;
}

static void
fake_await_exit(pid_t pid, uint64_t until)
{
	awaited_exit += pid == COMMAND;
	others_awaited += pid != COMMAND;
	awaited_until = until;
}

static void
fake_await_end(pid_t pid, uint64_t after, uint64_t before)
{
	awaited_end += pid == COMMAND && after == 5 && before == 6;
}

static int
fake_byte_await(int fd, off_t byte)
{
	(void)fd;
	guards_awaited += byte == GUARD_BASE + SLOT;
	return guard_error;
}

static int
fake_stat(const struct file *f, struct stat *sb)
{
	(void)f;
	(void)sb;
	return 0;
}

static int
fake_start(void *(*run)(void *), void *arg)
{
	if (threads_fail)
		return -EAGAIN;
	started = run;
	argument = kept[kept_count++] = arg;
	return 0;
}

static void
fake_put(const struct flk *f)
{
	given_back += f == &limiter;
}

static void
fake_wake(const void *word)
{
	wakes += word == &slots[7].wake;
}

static void
fake_usleep(unsigned us)
{
	(void)us;
	ticks++;
}

static void *
fake_malloc(size_t size)
{
	return allocations_fail ? NULL : malloc(size);
}

static uint64_t
fake_now(void)
{
	return the_time;
}

#define flki_guard_is_free(f, slot)     fake_guard_is_free(f, slot)
#define flki_pid_namespace()            here
#define flki_runs_since(pid, a, b)      fake_runs_since(pid, a, b)
#define flki_is_exiting(pid)            fake_is_exiting(pid)
#define flki_await_exit(pid, until)     fake_await_exit(pid, until)
#define flki_await_end(pid, a, b)       fake_await_end(pid, a, b)
#define flki_byte_await(fd, byte)       fake_byte_await(fd, byte)
#define flki_file_stat(f, sb)           fake_stat(f, sb)
#define flki_thread_start(run, arg, sz) fake_start(run, arg)
#define flki_put(f)                     fake_put(f)
#define flki_futex_wake(word)           fake_wake(word)
#define flki_monotonic_ns()             fake_now()
#define usleep(us)                      fake_usleep(us)
#include "futex.h"
#define malloc(size) fake_malloc(size)
#include "orphan.c"
#undef malloc

#define TEN_S 10000

/* A permit whose taker has died, and whose command says that it is COMMAND. */
static void
begin_orphan(void)
{
	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	memset(&limiter, 0, sizeof(limiter));
	limiter.file.h = &page;
	limiter.file.slots = slots;
	limiter.file.backed = page.nslots = FIRST_SLOTS;
	limiter.base.users = 1;
	page.waiting.head = 7;
	atomic_store(&mine->state, HELD);
	mine->ticket = TICKET;
	mine->worker_pid = COMMAND;
	mine->started_after_ns = 5;
	mine->started_before_ns = 6;
	the_time = 1000 * SECOND;
	guard_is_free = false;
	here = HERE;
	doing = NONE;
	awaited_end = awaited_exit = others_awaited = guards_awaited = given_back = wakes = ticks =
	    guard_error = 0;
	threads_fail = allocations_fail = 0;
	started = NULL;
}

/* ---- does it keep its permit? ---- */

static void
test_keeps(void)
{
	begin_orphan();
	ok(flki_orphan_is(&limiter, SLOT), "a guard keeps the permit");
	guard_is_free = true;
	ok(!flki_orphan_is(&limiter, SLOT), "without it, and without a command, it is over");
	doing = RUNNING;
	ok(flki_orphan_note(&limiter, SLOT), "a command that runs on keeps it, too");
	is(mine->exit_seen_ms, 0, "for as long as it runs");
	doing = ENDING;
	ok(flki_orphan_is(&limiter, SLOT), "and in its exit");
	is(mine->exit_seen_ms, 0, "of which a look alone writes nothing down");
	mine->worker_pid = 0;
	ok(!flki_orphan_is(&limiter, SLOT), "where it has not said who it is, it is over");
	mine->role = FLK_CARRIED;
	mine->pid = COMMAND;
	ok(flki_orphan_is(&limiter, SLOT), "a process that has become the command is its taker");
	mine->worker_pid = COMMAND + 1;
	ok(!flki_orphan_is(&limiter, SLOT), "unless it has named another");
	mine->worker_pid = UINT32_MAX;
	ok(!flki_orphan_is(&limiter, SLOT), "no process has such a number");
	mine->worker_pid = COMMAND;
	mine->started_in = HERE;
	ok(flki_orphan_is(&limiter, SLOT), "a command of this PID namespace");
	mine->started_in = HERE + 1;
	ok(!flki_orphan_is(&limiter, SLOT), "in another its number is another process's");
	here = 0;
	ok(!flki_orphan_is(&limiter, SLOT), "and where /proc does not say in which we are");
}

static void
test_patience(void)
{
	uint32_t first;

	begin_orphan();
	guard_is_free = true;
	doing = ENDING;
	ok(flki_orphan_note(&limiter, SLOT), "an exit has begun");
	first = mine->exit_seen_ms;
	ok(first != 0, "and the time is written down");
	the_time += (TEN_S - 5) * MS;
	ok(flki_orphan_note(&limiter, SLOT), "almost ten seconds later it still counts");
	is(mine->exit_seen_ms, first, "since the same time");
	the_time += 10 * MS;
	ok(!flki_orphan_note(&limiter, SLOT), "but not after ten");

	begin_orphan();
	guard_is_free = true;
	doing = ENDING;
	the_time = 0;
	flki_orphan_note(&limiter, SLOT);
	ok(mine->exit_seen_ms != 0, "a time is never 0, which is none");
	begin_orphan();
	guard_is_free = true;
	doing = ENDING;
	limiter.ahead_ns = (int64_t)(100 * SECOND);
	flki_orphan_note(&limiter, SLOT);
	first = mine->exit_seen_ms;
	limiter.ahead_ns = 0;
	the_time -= 100 * SECOND;
	ok(first == clock_ms(&limiter), "it is the machine's, not that of a time namespace");
}

/* ---- the vigil ---- */

static uint64_t
watch(void)
{
	return flki_orphan_watch(&limiter, SLOT, TICKET);
}

static void
test_vigil(void)
{
	begin_orphan();
	ok(watch() && started != NULL, "a thread waits for the end");
	is(limiter.base.users, 2, "and keeps the limiter open");
	started(argument);
	ok(guards_awaited == 1 && wakes == 1 && given_back == 1, "of the guard; it wakes the head");
	is(atomic_load(&slots[7].wake), 1, "which looks");
	ok(awaited_end + ticks == 0, "the command does not run on");
	ok(watch() && started != NULL, "and may start another thread");
	started(argument);

	begin_orphan();
	watch();
	doing = RUNNING;
	started(argument);
	ok(awaited_end == 1 && awaited_exit == 0, "then of a command that runs on");
	doing = ENDING;
	watch();
	started(argument);
	ok(awaited_exit == 1 && awaited_until > the_time && awaited_until - the_time <= 50 * MS,
	   "an exit that no taker has seen has a moment, and then the head is to see it");
	mine->exit_seen_ms = clock_ms(&limiter);
	the_time += SECOND;
	watch();
	started(argument);
	ok(awaited_exit == 2 && awaited_until - the_time <= 9001 * MS &&
	       awaited_until - the_time >= 8999 * MS,
	   "then the thread waits for what is left of ten seconds");

	begin_orphan();
	mine->started_in = HERE + 1;
	watch();
	started(argument);
	is(others_awaited, 0, "of a command in another PID namespace nothing is waited for");

	begin_orphan();
	doing = RUNNING;
	watch();
	mine->ticket++;
	started(argument);
	is(awaited_end, 0, "not if the permit is another by now");
	begin_orphan();
	doing = RUNNING;
	watch();
	atomic_store(&mine->state, IDLE);
	started(argument);
	is(awaited_end, 0, "or has ended");
	begin_orphan();
	doing = RUNNING;
	watch();
	atomic_store(&mine->alive.word, 1234);
	started(argument);
	is(awaited_end, 0, "or has a taker");
	begin_orphan();
	watch();
	guard_error = -EINVAL;
	page.waiting.head = NIL;
	started(argument);
	ok(ticks == 1 && wakes == 0, "without locks it looks again on a tick; no head, no wake");
	begin_orphan();
	watch();
	page.waiting.head = FIRST_SLOTS;
	started(argument);
	is(wakes, 0, "nor a head outside of the file");
}

static void
test_many(void)
{
	uint32_t n;
	pid_t pid;

	begin_orphan();
	ok(watch(), "a thread for one");
	started = NULL;
	ok(watch() && started == NULL, "is not started twice");
	for (n = 1; n < ORPHANS_WATCHED; n++)
		if (!flki_orphan_watch(&limiter, SLOT, TICKET + n))
			break;
	is(n, ORPHANS_WATCHED, "so many at once are watched");
	ok(!flki_orphan_watch(&limiter, SLOT, TICKET + n), "no more");
	is(limiter.base.users, 1 + ORPHANS_WATCHED, "each keeps the limiter open");

	if ((pid = fork_child()) == 0) {
		started = NULL;
		_exit(!watch() || started == NULL || limiter.base.users != 2);
	}
	is(reap_child(pid), 0,
	   "a child starts threads of its own, and counts none of its parent's");

	begin_orphan();
	threads_fail = 1;
	ok(!watch() && limiter.base.users == 1, "without a thread nothing is watched");
	threads_fail = 0;
	allocations_fail = 1;
	ok(!watch() && limiter.base.users == 1, "nor without memory");
	allocations_fail = 0;
	ok(watch(), "and no place is lost");
	atomic_store(&limiter.watcher, UINT64_MAX);
	ok(!watch(), "while another thread clears the list, it is looked at later");
}

int
main(void)
{
	begin();
	if (flki_alive_prepare() != 0)
		tap_bail("no robust list");
	test_keeps();
	test_patience();
	test_vigil();
	test_many();
	return tap_done();
}
