/* SPDX-License-Identifier: ISC */
/*
 * wait.c - standing in the line, until the permit comes, the time is over, or the waiter is put out.
 *
 * For a death the kernel wakes only one sleeper.  That may be a taker that something else woke
 * first, and that has another place in the line by now, or a permit.  The taker that should have
 * been woken would sleep on.  Therefore a taker that wakes looks once more at the words that it
 * watched, and does what the deaths ask for: see_to_deaths().
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>

#include "clock.h"
#include "watch.h"

#define RELOOK_NS (60 * SECOND) /* a safety net, not a poll */

_Static_assert(offsetof(struct slot, alive) == 0 && offsetof(struct alive, word) == 0,
	       "a slot is found by its word");

static const struct slot *
slot_of(const struct futex_word *word)
{
	return (const void *)(uintptr_t)word->address;
}

/*
 * Under the lock: each dead waiter is watched by its successor now, which may sleep on because the
 * kernel has woken this taker instead.  Called before the reaping, while the links are there.
 */
static void
wake_successors_of_dead(struct state *st, const struct watch *w)
{
	unsigned i;

	for (i = 1; i < w->count; i++) {
		const struct slot *s = slot_of(&w->word[i]);
		if (!flki_alive_is(&s->alive) && atomic_load(&s->state) == WAITING)
			flki_state_wake(st, s->next);
	}
}

/*
 * Under the lock, after the sweep: a holder that died and left an orphan was not reaped, so the
 * sweep has woken no waiter.  But the head must learn of it: it has to start the thread that waits
 * for the orphan's end (orphan.c).
 */
static void
wake_head_for_orphans(struct state *st, const struct watch *w)
{
	bool orphaned = false;
	unsigned i;

	for (i = 1; i < w->count; i++) {
		const struct slot *s = slot_of(&w->word[i]);
		orphaned |= !flki_alive_is(&s->alive) && atomic_load(&s->state) == HELD;
	}
	if (orphaned)
		flki_state_wake_head(st);
}

/*
 * Under the lock: reaps the dead that this taker has to reap, and does what the deaths of the
 * takers that it watched ask for; with one sweep of the holders at most.  relook: a waiter sweeps
 * in any case, because the head, which should, may be stopped.
 */
static void
see_to_deaths(struct flk_taker *t, struct state *st, const struct watch *w, bool relook)
{
	bool died = flki_watch_saw_death(w), swept = false;
	const struct slot *s = taker_slot(t);

	if (died)
		wake_successors_of_dead(st, w);
	if (atomic_load(&s->state) == WAITING)
		swept = flki_state_reap_watched(st, t->slot);
	if (!swept && (died || (relook && atomic_load(&s->state) == WAITING)))
		flki_state_sweep_holders(st);
	if (died)
		wake_head_for_orphans(st, w);
}

/*
 * We were granted the permit, and have left the line.  The granter may still be inside, with more
 * to grant and to wake.  If it dies there, it may be that no taker but us watched it: then its work
 * would stay undone.  So we wait for a moment until it has left, and otherwise take the lock after
 * it.
 */
static int
pass_on(struct flk_taker *t, const struct watch *w)
{
	struct state st;
	int error;

	/* The slot may be another taker's by now, and the permit with it. */
	if (!taker_has_slot(t))
		return -FLK_MISTAKEN;
	if (flki_lock_is_left(t->flk->file.h) && !flki_watch_saw_death(w))
		return 0;
	if ((error = flki_enter_until(t, &st, NOT_LONG, NULL)) != 0)
		return error == -FLK_STUCK ? 0 : error;
	see_to_deaths(t, &st, w, false);
	return flki_quit(t, &st);
}

/* The code for a taker that was taken out of the line.  A barrier that is done has 0. */
static int
reason_of(const struct slot *s)
{
	int32_t reason = s->reason;

	if (reason == 0 && s->kind == BARRIER)
		return 0;
	return reason == -FLK_CLOSED ? -FLK_CLOSED : -FLK_EVICTED;
}

/*
 * Under the lock: 0 held, -EINPROGRESS still in the line, or why it no longer is.  A cancelled waiter
 * leaves here, and so does one of a closed limiter.
 */
static int
settle(struct flk_taker *t, struct state *st)
{
	struct slot *s = taker_slot(t);

	if (atomic_load(&s->state) == WAITING && st->h->closed && s->kind == TAKER) {
		flki_state_leave(st, t->slot);
		flki_state_note(st, FLK_EV_LEFT, t->slot, -FLK_CLOSED);
		return -FLK_CLOSED;
	}
	if (atomic_load(&s->state) == WAITING && atomic_exchange(&t->cancelled, false)) {
		flki_state_leave(st, t->slot);
		if (s->kind == TAKER)
			flki_state_note(st, FLK_EV_LEFT, t->slot, -FLK_CANCELLED);
		return -FLK_CANCELLED;
	}
	switch (atomic_load(&s->state)) {
	case WAITING:
		return -EINPROGRESS;
	case HELD:
		return 0;
	case OUT:
		atomic_store(&s->state, IDLE);
		return reason_of(s);
	default:
		return -FLK_NOPERMIT; /* it has not been in the line */
	}
}

/* If the taker was evicted before the limiter was removed, report the eviction. */
static int
out_or(struct flk_taker *t, int error)
{
	struct slot *s = taker_slot(t);

	if (error != -FLK_GONE || atomic_load(&s->state) != OUT)
		return error;
	atomic_store(&s->state, IDLE);
	return reason_of(s);
}

int
flki_kept_out(struct flk_taker *t, uint64_t until)
{
	/* Without the lock it can't leave the line in another way. */
	if (atomic_exchange(&t->cancelled, false)) {
		flki_slot_abandon(t);
		return t->waited_for = -FLK_CANCELLED;
	}
	if (atomic_exchange(&t->interrupted, false))
		return -EINTR;
	return t->waited_for = flki_monotonic_ns() >= until ? -ETIMEDOUT : -FLK_STUCK;
}

/* Before the lock: the head, or the second in the line where the head is late, measures. */
static void
look_if_due(struct flk_taker *t, const struct watch *w)
{
	uint64_t now = flki_monotonic_ns();
	const struct header *h = t->flk->file.h;

	if (w->count > 0 && now >= w->due_ns && flki_gate_is_set(h) &&
	    flki_gate_wants_look(h, now - (uint64_t)flki_clock_ahead(t->flk), w->first))
		flki_look(t, false);
}

/* Under the lock: the history has each waiter once that the gate has kept. */
static void
note_gated(struct flk_taker *t, struct state *st)
{
	const struct slot *s = taker_slot(t);
	struct flk_gated gated;

	if (t->gated == s->ticket || !flki_gate_keeps(st, s) ||
	    (s->asks == 0 && (st->reading.gate == 0 || st->reading.failed == 0)))
		return;
	flki_gate_condition(st, s, &gated);
	t->gated = s->ticket;
	flki_state_note_gated(st, t->slot, &gated);
}

/* Is its own question to be answered now?  If that is later, it sleeps no longer. */
static bool
is_asked(const struct flk_taker *t, struct watch *w, uint64_t now)
{
	uint64_t again = t->asked_ns + FLKI_ASK_NS;

	if (!w->asks)
		return false;
	if (t->asked_ns == 0 || now >= again)
		return true;
	if (again < w->due_ns)
		w->due_ns = again;
	return false;
}

int
flki_local_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask)
{
	uint64_t until = flki_deadline_ns(deadline), wake_at;
	struct watch w = { .count = 0 };
	struct state st;
	uint32_t value;
	int error, damage;
	bool slept_out = false;

	if (t->slot == NIL)
		return -FLK_NOPERMIT;
	if (taker_is_strange(t))
		return taker_is_ours(t) ? -FLK_MISTAKEN : -FLK_STRANGER;
	for (;;) {
		value = atomic_load(&taker_slot(t)->wake);
		look_if_due(t, &w);
		error = flki_enter_until(t, &st, until, mask);
		if (error == -FLK_STUCK)
			return flki_kept_out(t, until);
		if (error != 0)
			return out_or(t, error);
		if (!taker_has_slot(t)) {
			flki_leave_lock(t, &st);
			return -FLK_MISTAKEN;
		}
		see_to_deaths(t, &st, &w, slept_out);
		error = settle(t, &st);
		if (error != -EINPROGRESS) {
			if (atomic_load(&taker_slot(t)->state) != HELD)
				flki_alive_unwatch(&taker_slot(t)->alive);
			damage = flki_quit(t, &st);
			return damage != 0 ? damage : error;
		}
		note_gated(t, &st);
		flki_watch_all(&st, &w, t->slot, value);
		if ((error = flki_quit(t, &st)) != 0)
			return error;
		if (atomic_exchange(&t->interrupted, false))
			return -EINTR;
		if (st.now_ns >= until)
			return t->waited_for = -ETIMEDOUT;
		if (is_asked(t, &w, st.now_ns))
			return -FLK_ASK;
		flki_watch_orphans(t->flk, &w);
		if (w.again)
			continue;
		wake_at = st.now_ns + RELOOK_NS < until ? st.now_ns + RELOOK_NS : until;
		flki_watch_sleep(&w, w.due_ns < wake_at ? w.due_ns : wake_at, mask);
		slept_out = flki_monotonic_ns() >= wake_at;
		if ((error = flki_file_verify(&t->flk->file)) == -FLK_DAMAGED ||
		    (error == -FLK_GONE && taker_is_strange(t)))
			return error;
		if (atomic_load_explicit(&taker_slot(t)->state, memory_order_acquire) == HELD)
			return pass_on(t, &w);
	}
}
