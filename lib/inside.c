/* SPDX-License-Identifier: ISC */
/*
 * inside.c - going in and out of the lock, with the state as the taker that is inside sees it.
 *
 *	if ((error = flki_enter(t, &st)) != 0)		claims a slot, takes the lock, and repairs
 *		return error;				what a dead owner of it left
 *	flki_state_...(&st, ...);			one transition, or several
 *	return flki_quit(t, &st);			drops the lock
 *
 * Inside, a function calls the transitions of state.h and nothing that sleeps or allocates: all
 * other takers wait.  It may be killed at any instruction, so what it does beside one transition
 * must be harmless if the next owner of the lock does the rest.  Each function that has entered
 * quits; flki_leave_lock() is for those that changed nothing.
 *
 * A transition wakes the takers that must look again, one by one and while the lock is still had:
 * flki_state_wake() changes a taker's wake word and calls wake() here.  The drop wakes one taker
 * that sleeps on the lock, and before it the followers of the history are woken.
 */
#include "internal.h"

#include <signal.h>

#include "clock.h"
#include "futex.h"

/* ---- struct world: what the pure state needs of the system ---- */

static enum fate
fate(void *ctx, uint32_t i)
{
	struct flk *f = ctx;
	const struct slot *s = &f->file.slots[i];

	if (flki_alive_is(&s->alive))
		return LIVES;
	/* Only a permit has a command.  It takes system calls, but only for a dead taker. */
	return atomic_load(&s->state) == HELD && flki_orphan_note(f, i) ? ORPHAN : DEAD;
}

static void
wake(void *ctx, uint32_t i)
{
	struct flk *f = ctx;

	flki_futex_wake(&f->file.slots[i].wake);
}

static uint64_t
mark_of(const struct flk_taker *t)
{
	return flki_lock_mark(t->slot, t->gen);
}

/*
 * We have lost the lock: the kernel marked us dead although we live, and another taker inherited
 * the lock while we were inside.  It rebuilt the index, both of us may have changed the index
 * since, and neither knows what the other did.  So the next owner of the lock rebuilds it once
 * more.  All waiters are woken, so that there is a next owner.
 *
 * So are the takers that were granted a permit or taken out of the line: the granter may have been
 * killed before it woke them, and the index that we tore may have kept them from watching it.
 */
static void
doubt(struct state *st)
{
	uint32_t i;

	atomic_store(&st->h->doubted, 1);
	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) > IDLE)
			flki_state_wake(st, i);
}

/* The program's own callback, around the time in which it has the lock. */
static void
inside(const struct flk *f, bool is_inside)
{
	if (f->inside != NULL)
		f->inside(f->context, is_inside);
}

/* Without the lock: if an operator sets a pace just now, its first start goes by our own clock. */
__attribute__((no_sanitize("thread"))) static bool
may_be_paced(const struct header *h)
{
	return flki_pace_is_set(h) || flki_gate_is_set(h);
}

int
flki_leave_lock(struct flk_taker *t, struct state *st)
{
	bool is_ours;

	flki_history_wake(st->h);
	is_ours = flki_lock_drop(st->h, mark_of(t));
	if (!is_ours)
		doubt(st);
	inside(t->flk, false);
	return is_ours ? 0 : -FLK_MISTAKEN;
}

/*
 * The process that keeps us out, as it sees itself.  It is shown to people, and some of them will
 * kill it: the file must not make us show -1, which is every process.
 */
static pid_t
find_stuck(struct flk *f)
{
	uint32_t owner = flki_lock_owner(f->file.h);
	uint32_t pid = owner < flki_file_slots(&f->file) ? f->file.slots[owner].pid : 0;

	pid = pid <= INT32_MAX ? pid : 0;
	atomic_store(&f->stuck_pid, pid);
	return (pid_t)pid;
}

/* The lock's owner stays inside: does this taker go on waiting? */
static bool
waits_on(struct flk_taker *t, uint64_t until, const sigset_t *mask)
{
	struct flk *f = t->flk;
	pid_t pid = find_stuck(f);
	sigset_t saved;

	/* Signals that came in meanwhile end the wait for a stuck owner, as they end a sleep. */
	if (mask != NULL) {
		pthread_sigmask(SIG_SETMASK, mask, &saved);
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
	}
	if (until == NOT_LONG || atomic_load(&t->cancelled) || atomic_load(&t->interrupted) ||
	    flki_monotonic_ns() >= until)
		return false;
	return f->stuck == NULL || f->stuck(f->context, pid);
}

/* Before the lock, as some of it asks the system: the parts of the state that no taker changes. */
static void
prepare(const struct flk_taker *t, struct state *st)
{
	struct flk *f = t->flk;
	bool asked = atomic_load(&f->ahead_ns) != INT64_MIN;

	st->h = f->file.h;
	st->slots = f->file.slots;
	st->history = f->file.history;
	st->me = t->slot;
	st->bad = false;
	st->ahead_ns = asked || may_be_paced(st->h) ? flki_clock_ahead(f) : 0;
	st->reading.gate = t->reading.gate;
	if (t->reading.gate != 0)
		st->reading = t->reading;
	st->answered = t->yes && flki_monotonic_ns() < t->asked_ns + FLKI_ASK_NS;
	st->world = (struct world){ .fate = fate, .wake = wake, .ctx = f };
}

/* Enters even a limiter that is damaged or dead. */
static int
enter(struct flk_taker *t, struct state *st, uint64_t until, const sigset_t *mask)
{
	struct flk *f = t->flk;
	struct file *file = &f->file;
	enum lock_result got;
	int error;

	if (t->slot == NIL && (error = flki_slot_claim(t)) != 0)
		return error;
	flki_file_extend_history(file);
	prepare(t, st);
	t->reading.gate = 0; /* it counts for this visit */
	for (;;) {
		inside(f, true);
		got = flki_lock_take(file, mark_of(t), &t->patience,
				     until == NOT_LONG ? UINT64_MAX : until);
		if (got != STUCK)
			break;
		inside(f, false);
		if (!waits_on(t, until, mask))
			return -FLK_STUCK;
	}
	st->n = flki_file_slots(file);
	st->now_ns = flki_monotonic_ns();
	flki_pace_keep(st);
	if (st->reading.gate != 0)
		flki_gate_note_reading(st);
	if (got == INHERITED) {
		/* The dead owner may have cleared it, and died before it woke the followers. */
		atomic_store(&file->h->followed, 1);
	}
	/*
	 * Cleared before the rebuild: if we die in that, the next taker inherits the lock, and
	 * rebuilds.
	 */
	if (got == INHERITED || atomic_load(&file->h->doubted) != 0) {
		atomic_store(&file->h->doubted, 0);
		if (!flki_state_rebuild(st))
			atomic_store(&file->h->damaged, 1);
	}
	/* We were marked as dead, and the slot is another taker's: we must not write to it. */
	if (atomic_load(&taker_slot(t)->gen) != t->gen) {
		flki_leave_lock(t, st);
		return -FLK_MISTAKEN;
	}
	return 0;
}

int
flki_enter_anyway(struct flk_taker *t, struct state *st)
{
	return enter(t, st, flki_as_asked(t->flk), NULL);
}

int
flki_enter(struct flk_taker *t, struct state *st)
{
	return flki_enter_until(t, st, flki_as_asked(t->flk), NULL);
}

int
flki_enter_until(struct flk_taker *t, struct state *st, uint64_t until, const sigset_t *mask)
{
	int error = enter(t, st, until, mask);

	if (error != 0)
		return error;
	if (atomic_load(&st->h->damaged))
		error = -FLK_DAMAGED;
	else if (atomic_load(&st->h->dead))
		error = -FLK_GONE;
	if (error != 0)
		flki_leave_lock(t, st);
	return error;
}

/* An index that leads out of the file is rebuilt: the slots may still be right. */
int
flki_quit(struct flk_taker *t, struct state *st)
{
	struct header *h = t->flk->file.h;
	int error;

	if (st->bad) {
		st->bad = false;
		if (!flki_state_rebuild(st))
			atomic_store(&h->damaged, 1);
	}
	error = flki_leave_lock(t, st);
	return atomic_load(&h->damaged) ? -FLK_DAMAGED : error;
}
