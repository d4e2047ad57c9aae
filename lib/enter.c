/*
 * enter.c - claiming a slot, and going in and out of the lock.
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "futex.h"

/* Beyond so many slots in a row that somebody has, more room is cheaper than more looking. */
#define LONG_LOOK 64

/* FREE and IDLE and OUT are nobody's business but the owner's; without one they are anybody's. */
static bool
claimable(const struct slot *s)
{
	uint32_t state = atomic_load(&s->state);

	return (state == FREE || state == IDLE || state == OUT) && !flki_alive_is(&s->alive);
}

static bool
claim(struct slot *s)
{
	if (!claimable(s) || !flki_alive_take(&s->alive))
		return false;
	/* Another may have had it since we looked, queued, and died. */
	switch (atomic_load(&s->state)) {
	case FREE:
	case IDLE:
	case OUT:
		break;
	default:
		flki_alive_drop(&s->alive);
		return false;
	}
	atomic_fetch_add(&s->gen, 1);
	atomic_store(&s->state, IDLE);
	s->pid = (uint32_t)getpid();
	s->uid = (uint32_t)getuid();
	s->orphan = 0;
	s->limit = 0; /* nothing is declared yet: the last owner's limit is not this taker's */
	s->command[0] = '\0';
	return true;
}

static uint32_t
find_slot(struct file *f, uint32_t n, uint32_t start, uint32_t looks)
{
	uint32_t k, i;

	for (k = 0; k < looks; k++) {
		i = (uint32_t)(((uint64_t)start + k) % n);
		if (claim(&f->slots[i])) {
			atomic_store(&f->h->hint, (i + 1) % n);
			return i;
		}
	}
	return NIL;
}

/*
 * Slots are freed in about the order in which they were taken, so the best place to look is
 * where the last claim ended.  Those who stay long make crowds: look in eight places.
 */
static uint32_t
find_soon(struct file *f, uint32_t n)
{
	uint32_t hint = atomic_load(&f->h->hint), place, i = NIL;

	if (n <= LONG_LOOK)
		return find_slot(f, n, hint, n);
	for (place = 0; place < 8 && i == NIL; place++)
		i = find_slot(f, n, hint + n / 8 * place, LONG_LOOK);
	return i;
}

static int
claim_slot(struct flk_taker *t)
{
	struct file *f = &t->flk->file;
	uint32_t n, slot;
	int error;

	if (t->slot != NIL)
		return 0;
	if ((error = flki_alive_prepare()) != 0)
		return error;
	for (;;) {
		n = flki_file_slots(f);
		if (n == 0) {
			error = -FLK_DAMAGED;
			break;
		}
		slot = find_soon(f, n);
		if (slot == NIL && (error = flki_file_grow(f)) != 0) {
			n = flki_file_slots(f); /* another may have made the last room */
			slot = find_slot(f, n, 0, n);
			if (slot == NIL)
				break;
		}
		if (slot != NIL) {
			t->gen = atomic_load(&f->slots[slot].gen);
			t->thread = flki_robust_me();
			t->process = flki_robust_process();
			t->tid = flki_robust_tid();
			t->slot = slot;
			return 0;
		}
		atomic_store(&f->h->hint, n);
	}
	flki_alive_unprepare();
	return error;
}

void
flki_drop_slot(struct flk_taker *t)
{
	struct slot *s;
	bool ours;

	if (t->slot == NIL)
		return;
	s = taker_slot(t);
	ours = taker_has_slot(t);
	t->slot = NIL;
	/* Where it could not leave the line, it is found dead there. */
	if (ours && (atomic_load(&s->state) == IDLE || atomic_load(&s->state) == OUT))
		atomic_store(&s->state, FREE);
	flki_alive_drop(&s->alive);
}

void
flki_abandon(struct flk_taker *t)
{
	/* That its taker is gone is no accident then: the history has a release. */
	if (t->slot != NIL && taker_has_slot(t) && atomic_load(&taker_slot(t)->state) == HELD)
		__atomic_store_n(&taker_slot(t)->role, FLK_CARRIED, __ATOMIC_RELAXED);
	flki_drop_slot(t);
}

/* ---- what the pure state needs of the world ---- */

static enum fate
fate(void *ctx, uint32_t i)
{
	struct flk *f = ctx;
	const struct slot *s = &f->file.slots[i];

	if (flki_alive_is(&s->alive))
		return LIVES;
	/* Only a permit has a command.  To ask for it takes system calls, but only for the dead. */
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
 * The lock is another's by now: the kernel had marked us dead, and another taker inherited the lock
 * while we were inside.  Both of us may have changed the index since it made that anew, and neither
 * can know what the other did.  So the next owner of the lock makes it anew; and those that wait
 * come and see to it, as no other may come.
 */
static void
doubt(struct state *st)
{
	uint32_t i;

	atomic_store(&st->h->doubted, 1);
	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) == WAITING)
			flki_state_poke(st, i);
}

/* The program's own care for the time in which it has the lock. */
static void
inside(const struct flk *f, bool is_inside)
{
	if (f->inside != NULL)
		f->inside(f->context, is_inside);
}

/* Without the lock: a pace that is set just now has its first start by our own clock. */
__attribute__((no_sanitize("thread"))) static bool
may_be_paced(const struct header *h)
{
	return flki_pace_is_set(h);
}

int
flki_leave_lock(struct flk_taker *t, struct state *st)
{
	bool is_ours;

	flki_history_tell(st->h);
	is_ours = flki_lock_drop(st->h, mark_of(t));
	if (!is_ours)
		doubt(st);
	inside(t->flk, false);
	return is_ours ? 0 : -FLK_MISTAKEN;
}

/* The process that keeps us out, as it calls itself.  People are told of it: -1 would be everybody. */
static pid_t
find_stuck(struct flk *f)
{
	uint32_t owner = flki_lock_owner(f->file.h);
	uint32_t pid = owner < flki_file_slots(&f->file) ? f->file.slots[owner].pid : 0;

	pid = pid <= INT32_MAX ? pid : 0;
	atomic_store(&f->stuck_pid, pid);
	return (pid_t)pid;
}

/* The lock's owner stays inside: do we stay, too? */
static bool
waits_on(struct flk_taker *t, uint64_t until, const sigset_t *mask)
{
	struct flk *f = t->flk;
	pid_t pid = find_stuck(f);
	sigset_t saved;

	if (mask != NULL) {
		pthread_sigmask(SIG_SETMASK, mask, &saved);
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
	}
	if (until == NOT_LONG || atomic_load(&t->cancelled) || atomic_load(&t->interrupted) ||
	    flki_monotonic_ns() >= until)
		return false;
	return f->stuck == NULL || f->stuck(f->context, pid);
}

/* Damaged or dead, too. */
static int
enter(struct flk_taker *t, struct state *st, uint64_t until, const sigset_t *mask)
{
	struct flk *f = t->flk;
	struct file *file = &f->file;
	enum lock_result got;
	bool asked;
	int error;

	if ((error = claim_slot(t)) != 0)
		return error;
	flki_file_make_history(file);
	st->h = file->h;
	st->slots = file->slots;
	st->history = file->history;
	st->me = t->slot;
	st->bad = false;
	asked = atomic_load(&f->ahead_ns) != INT64_MIN;
	st->ahead_ns = asked || may_be_paced(file->h) ? flki_clock_ahead(f) : 0;
	st->world = (struct world){ .fate = fate, .wake = wake, .ctx = f };
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
	if (got == INHERITED) {
		/* It may have died after it took this away and before it woke those who follow. */
		atomic_store(&file->h->followed, 1);
	}
	/* Before the rebuild: if we die within that, the lock is inherited, and it is done all the same. */
	if (got == INHERITED || atomic_load(&file->h->doubted) != 0) {
		atomic_store(&file->h->doubted, 0);
		if (!flki_state_rebuild(st))
			atomic_store(&file->h->damaged, 1);
	}
	/* Marked as dead, and another has claimed the slot: nothing of ours may be written there. */
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

/* A lie in the index is no harm yet: the slots may still be right. */
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
