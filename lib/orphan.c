/* SPDX-License-Identifier: ISC */
/*
 * orphan.c - waiting for the end of a permit that has lost its taker: the permit of an orphan, or
 * of a command that its wrapper became by exec(3).
 *
 * The taker is dead already, so there is no `alive' word to watch.  But the command keeps a byte of
 * the file locked (guard.c), and the kernel lets a thread sleep until a byte is unlocked.  When the
 * byte is free, the command is most often in the middle of its exit.  The permit is kept until the
 * exit is over: see exiting.c.
 *
 * That second wait is bounded by LONGEST, for all takers together: each of them alone may wait for
 * less time than that, or not at all.  So the first taker that finds, inside the lock, the guard
 * free and the command in its exit writes the time into the slot: exit_seen_ms.
 *
 * The head starts a thread for each orphan, a vigil.  It may outlive the wait that started it, and
 * even the detaching from the limiter: it ends with the orphan, and is a user of the limiter until
 * then.
 */
#include "internal.h"

#include <stdlib.h>
#include <unistd.h>

#include "bytelock.h"
#include "cancel.h"
#include "clock.h"
#include "exiting.h"
#include "futex.h"
#include "thread.h"

#define STACK   65536
#define TICK_US 100000
#define OVER    UINT64_MAX /* no ticket: the vigil is over, but the entry is not free yet */
#define LONGEST 10000      /* ms; the close of a device may take long, or for ever */
#define GLIMPSE 20         /* ms */

struct vigil {
	struct flk *flk;
	uint32_t slot;
	uint64_t ticket;
	unsigned entry; /* of flk->watched */
};

/* In another PID namespace than ours, where its number is another process's. */
static bool
is_elsewhere(const struct slot *s)
{
	uint32_t in = __atomic_load_n(&s->started_in, __ATOMIC_RELAXED);

	return in != 0 && in != flki_pid_namespace();
}

/*
 * The command that runs under the permit, as far as the dead taker has said and we can look at it;
 * 0: it has not, or we can't.
 */
static pid_t
command_of(const struct slot *s)
{
	uint32_t pid = __atomic_load_n(&s->worker_pid, __ATOMIC_RELAXED);

	if (pid == 0 && __atomic_load_n(&s->role, __ATOMIC_RELAXED) == FLK_CARRIED)
		pid = __atomic_load_n(&s->pid, __ATOMIC_RELAXED);
	return pid <= INT32_MAX && !is_elsewhere(s) ? (pid_t)pid : 0;
}

/*
 * The command whose guard is free runs on: a program may close descriptors that it does not know, and
 * any process that inherited the guard can unlock it, also one that has given up its rights.
 */
static bool
runs(const struct slot *s, pid_t command)
{
	return flki_runs_since(command, __atomic_load_n(&s->started_after_ns, __ATOMIC_RELAXED),
			       __atomic_load_n(&s->started_before_ns, __ATOMIC_RELAXED));
}

/* Never 0, and the same for all takers, whatever time namespace they are in.  It may wrap. */
static uint32_t
clock_ms(struct flk *f)
{
	return (uint32_t)((flki_monotonic_ns() - (uint64_t)flki_clock_ahead(f)) / MS) | 1;
}

/* How much is left of LONGEST. */
static uint32_t
patience_ms(struct flk *f, const struct slot *s)
{
	uint32_t seen = __atomic_load_n(&s->exit_seen_ms, __ATOMIC_RELAXED), passed;

	passed = seen != 0 ? clock_ms(f) - seen : 0;
	return passed < LONGEST ? LONGEST - passed : 0;
}

static bool
keeps_guard_or_exits(struct flk *f, uint32_t slot, bool *exits)
{
	const struct slot *s = &f->file.slots[slot];
	pid_t command;

	*exits = false;
	if (!flki_guard_is_free(f, slot))
		return true;
	if ((command = command_of(s)) == 0)
		return false;
	if (runs(s, command))
		return true;
	*exits = flki_is_exiting(command) && patience_ms(f, s) > 0;
	return *exits;
}

bool
flki_orphan_is(struct flk *f, uint32_t slot)
{
	bool exits;

	return keeps_guard_or_exits(f, slot, &exits);
}

bool
flki_orphan_note(struct flk *f, uint32_t slot)
{
	struct slot *s = &f->file.slots[slot];
	bool exits, keeps = keeps_guard_or_exits(f, slot, &exits);

	if (exits && __atomic_load_n(&s->exit_seen_ms, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&s->exit_seen_ms, clock_ms(f), __ATOMIC_RELAXED);
	return keeps;
}

/* Without the lock, so a hint: a waiter that becomes the head later is woken, and looks. */
__attribute__((no_sanitize("thread"))) static uint32_t
head_of_line(const struct header *h)
{
	return __atomic_load_n(&h->waiting.head, __ATOMIC_RELAXED);
}

static void
wake_head(struct flk *f)
{
	uint32_t head = head_of_line(f->file.h);

	if (head >= flki_file_slots(&f->file))
		return;
	atomic_fetch_add(&f->file.slots[head].wake, 1);
	flki_futex_wake(&f->file.slots[head].wake);
}

/*
 * Waits until the byte is unlocked, by locking it on the limiter's own description, which no
 * command inherits.  But a forked child of this process shares that description, and the lock on it
 * lasts as long as one of them has it open.  So the lock is given back at once.  If we are killed
 * between the two calls and a child lives on, its lock is in the way of this slot's next guard.
 */
static int
await_guard(const struct vigil *v)
{
	struct stat sb;
	int error = flki_file_stat(&v->flk->file, &sb);

	return error != 0 ? error : flki_byte_await(v->flk->file.fd, GUARD_BASE + v->slot);
}

/*
 * Waits for the end of the command, but not if the slot is another taker's by now.  While exit_seen_ms
 * is 0 no taker has looked since the guard became free, and the vigil waits for a GLIMPSE only, in which
 * most exits are over.  Then it returns, so that the head is woken: the head writes the time and starts
 * another vigil.  Only a taker inside the lock may write it; this thread might write into the next
 * taker's permit.
 */
static void
await_command(const struct vigil *v)
{
	const struct slot *s = &v->flk->file.slots[v->slot];
	uint64_t after = __atomic_load_n(&s->started_after_ns, __ATOMIC_RELAXED);
	uint64_t before = __atomic_load_n(&s->started_before_ns, __ATOMIC_RELAXED);
	pid_t command = command_of(s);
	uint32_t ms = GLIMPSE;

	if (atomic_load(&s->state) != HELD || flki_alive_is(&s->alive) ||
	    __atomic_load_n(&s->ticket, __ATOMIC_RELAXED) != v->ticket || command == 0)
		return;
	if (flki_runs_since(command, after, before)) {
		flki_await_end(command, after, before);
	} else {
		if (__atomic_load_n(&s->exit_seen_ms, __ATOMIC_RELAXED) != 0)
			ms = patience_ms(v->flk, s);
		flki_await_exit(command, flki_monotonic_ns() + ms * MS);
	}
}

static void *
keep_vigil(void *arg)
{
	struct vigil *v = arg;

	/*
	 * The head, once woken, starts a vigil again: if there is no lock to wait for, once in a
	 * tick.
	 */
	if (await_guard(v) != 0)
		usleep(TICK_US);
	else
		await_command(v);
	/*
	 * If the head, once woken, finds the orphan still there, it must start a vigil, not find
	 * this one.
	 */
	atomic_store(&v->flk->watched[v->entry], OVER);
	wake_head(v->flk);
	atomic_store(&v->flk->watched[v->entry], 0);
	flki_put(v->flk);
	free(v);
	return NULL;
}

/* A forked child has its parent's list of vigils, but none of the threads that keep them. */
static bool
vigils_are_ours(struct flk *f)
{
	uint64_t process = flki_robust_process(), was = atomic_load(&f->watcher);
	unsigned i;

	if (was == process)
		return true;
	/* Another thread clears the list just now: the caller looks again on a tick. */
	if (was == OVER || !atomic_compare_exchange_strong(&f->watcher, &was, OVER))
		return false;
	for (i = 0; was != 0 && i < ORPHANS_WATCHED; i++)
		if (atomic_exchange(&f->watched[i], 0) != 0)
			atomic_fetch_sub(&f->base.users, 1);
	atomic_store(&f->watcher, process);
	return true;
}

bool
flki_orphan_watch(struct flk *f, uint32_t slot, uint64_t ticket)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct vigil *v;
	uint64_t none;
	unsigned i;

	if (!vigils_are_ours(f))
		return false;
	for (i = 0; i < ORPHANS_WATCHED; i++)
		if (atomic_load(&f->watched[i]) == ticket)
			return true;
	for (i = 0; i < ORPHANS_WATCHED; i++) {
		none = 0;
		if (atomic_compare_exchange_strong(&f->watched[i], &none, ticket))
			break;
	}
	if (i == ORPHANS_WATCHED)
		return false;
	v = malloc(sizeof(*v));
	if (v != NULL) {
		*v = (struct vigil){ .flk = f, .slot = slot, .ticket = ticket, .entry = i };
		atomic_fetch_add(&f->base.users, 1);
		if (flki_thread_start(keep_vigil, v, STACK) == 0)
			return true;
		atomic_fetch_sub(&f->base.users, 1);
	}
	free(v);
	atomic_store(&f->watched[i], 0);
	return false;
}
