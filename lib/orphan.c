/*
 * orphan.c - waiting for the end of a permit whose taker is dead: an orphan's, or a command's
 * that was exec'd in its wrapper's place.  No taker dies then that a futex could watch; but the
 * kernel lets a thread sleep until a byte is unlocked.  The command is then most often on its way
 * out, and the permit is kept until it is past its exit: see exiting.c.
 *
 * That wait is bounded for all takers together, as most of them may wait for less time or not at
 * all: the first look, inside the lock, that finds the guard free and the command on its way out
 * writes the time into the slot, as a HELD one's by_uid.
 *
 * The thread outlives the wait that started it, if need be, and even the limiter's detaching: it
 * ends with the orphan, and is one of the limiter's users until then.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "cancel.h"
#include "exiting.h"
#include "futex.h"

#define STACK   65536
#define TICK_US 100000
#define OVER    UINT64_MAX /* nobody's ticket, but the place is not free yet */
#define LONGEST 10000      /* ms; a device may take long to close, or for ever */

struct vigil {
	struct flk *flk;
	uint32_t slot;
	uint64_t ticket;
	unsigned place;
};

/* What runs under a permit whose taker is dead, as far as the taker told; 0: nobody knows. */
static pid_t
command_of(const struct slot *s)
{
	uint32_t pid = __atomic_load_n(&s->by_pid, __ATOMIC_RELAXED);

	if (pid == 0 && __atomic_load_n(&s->role, __ATOMIC_RELAXED) == FLK_CARRIED)
		pid = __atomic_load_n(&s->pid, __ATOMIC_RELAXED);
	return pid <= INT32_MAX ? (pid_t)pid : 0;
}

/* Never 0, and the same for all takers, whatever time namespace they are in.  It may wrap. */
static uint32_t
clock_ms(struct flk *f)
{
	return (uint32_t)((flki_monotonic_ns() - (uint64_t)flki_clock_ahead(f)) / 1000000) | 1;
}

/* How much is left of LONGEST. */
static uint32_t
patience_ms(struct flk *f, const struct slot *s)
{
	uint32_t seen = __atomic_load_n(&s->by_uid, __ATOMIC_RELAXED), passed;

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
	command = command_of(s);
	*exits = command != 0 && flki_is_exiting(command) && patience_ms(f, s) > 0;
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

	if (exits && __atomic_load_n(&s->by_uid, __ATOMIC_RELAXED) == 0)
		__atomic_store_n(&s->by_uid, clock_ms(f), __ATOMIC_RELAXED);
	return keeps;
}

/* Without the lock: a hint.  Who becomes first after we looked is told so, and looks itself. */
__attribute__((no_sanitize("thread"))) static uint32_t
first_in_line(const struct header *h)
{
	return __atomic_load_n(&h->waiting.head, __ATOMIC_RELAXED);
}

static void
rouse_first(struct flk *f)
{
	uint32_t head = first_in_line(f->file.h);

	if (head >= flki_file_slots(&f->file))
		return;
	atomic_fetch_add(&f->file.slots[head].wake, 1);
	flki_futex_wake(&f->file.slots[head].wake);
}

/*
 * On the limiter's own description, which no command inherits.  A forked child has a part in it, so
 * the lock is given back, not closed: were we killed between the two calls, and a child of ours
 * lived on, it would stand in the way of this slot's next guard.
 */
static int
await_guard(const struct vigil *v)
{
	struct flock lock = { .l_type = F_WRLCK, .l_start = GUARD_BASE + v->slot, .l_len = 1 };
	struct stat sb;
	int error = flki_file_stat(&v->flk->file, &sb);

	if (error != 0)
		return error;
	while ((error = fcntl(v->flk->file.fd, F_OFD_SETLKW, &lock)) == -1 && errno == EINTR)
		;
	if (error == -1)
		return -errno;
	lock.l_type = F_UNLCK;
	fcntl(v->flk->file.fd, F_OFD_SETLK, &lock);
	return 0;
}

/*
 * Its slot may be another taker's by now: then nothing is waited for.  Nor is it while by_uid is 0,
 * because nobody has looked since the guard is free: the head, which is woken at once, writes the
 * time inside the lock, where it can't get into the next taker's permit, and starts another vigil.
 */
static void
await_command(const struct vigil *v)
{
	const struct slot *s = &v->flk->file.slots[v->slot];
	pid_t command = command_of(s);

	if (atomic_load(&s->state) == HELD && !flki_alive_is(&s->alive) &&
	    __atomic_load_n(&s->ticket, __ATOMIC_RELAXED) == v->ticket &&
	    __atomic_load_n(&s->by_uid, __ATOMIC_RELAXED) != 0 && command != 0)
		flki_await_exit(command,
				flki_monotonic_ns() + patience_ms(v->flk, s) * UINT64_C(1000000));
}

static void *
keep_vigil(void *arg)
{
	struct vigil *v = arg;

	/* Who is roused comes back here: without a lock to wait for, not more often than on a tick. */
	if (await_guard(v) != 0)
		usleep(TICK_US);
	else
		await_command(v);
	/* Who is roused, and finds the orphan still there, needs another vigil than this one. */
	atomic_store(&v->flk->watched[v->place], OVER);
	rouse_first(v->flk);
	atomic_store(&v->flk->watched[v->place], 0);
	flki_put(v->flk);
	free(v);
	return NULL;
}

static bool
start(struct vigil *v)
{
	sigset_t all, saved;
	pthread_attr_t attr;
	pthread_t thread;
	int error;

	sigfillset(&all);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, STACK);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &all, &saved);
	error = pthread_create(&thread, &attr, keep_vigil, v);
	pthread_sigmask(SIG_SETMASK, &saved, NULL);
	pthread_attr_destroy(&attr);
	return error == 0;
}

/* A child has its parent's list of vigils, and none of the threads that keep them. */
static bool
vigils_are_ours(struct flk *f)
{
	uint64_t process = flki_robust_process(), was = atomic_load(&f->watcher);
	unsigned i;

	if (was == process)
		return true;
	/* Another thread sees to it: the caller looks again on a tick. */
	if (was == OVER || !atomic_compare_exchange_strong(&f->watcher, &was, OVER))
		return false;
	for (i = 0; was != 0 && i < ORPHANS_WATCHED; i++)
		if (atomic_exchange(&f->watched[i], 0) != 0)
			atomic_fetch_sub(&f->users, 1);
	atomic_store(&f->watcher, process);
	return true;
}

bool
flki_orphan_watch(struct flk *f, uint32_t slot, uint64_t ticket)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct vigil *v;
	uint64_t nobody;
	unsigned i;

	if (!vigils_are_ours(f))
		return false;
	for (i = 0; i < ORPHANS_WATCHED; i++)
		if (atomic_load(&f->watched[i]) == ticket)
			return true;
	for (i = 0; i < ORPHANS_WATCHED; i++) {
		nobody = 0;
		if (atomic_compare_exchange_strong(&f->watched[i], &nobody, ticket))
			break;
	}
	if (i == ORPHANS_WATCHED)
		return false;
	v = malloc(sizeof(*v));
	if (v != NULL) {
		*v = (struct vigil){ .flk = f, .slot = slot, .ticket = ticket, .place = i };
		atomic_fetch_add(&f->users, 1);
		if (start(v))
			return true;
		atomic_fetch_sub(&f->users, 1);
	}
	free(v);
	atomic_store(&f->watched[i], 0);
	return false;
}
