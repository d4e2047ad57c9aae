/* SPDX-License-Identifier: ISC */
/*
 * wait.c - standing in the line.
 *
 * A waiter sleeps on its own wake word, and on the `alive' words of the takers that it watches: the
 * head watches the holders, every other waiter watches its predecessor.  So the death of a taker,
 * by whatever means, wakes the waiter that has to reap it.
 *
 * But the kernel wakes only one sleeper for a death.  That may be a taker that something else woke
 * first, and that has another place in the line by now, or a permit.  The taker that should have
 * been woken would sleep on.  Therefore a taker that wakes looks once more at the words that it
 * watched, and does what the deaths ask for: see_to_deaths().
 *
 * A special case: newcomer N stands before X, which consented to that.  X was woken, to watch N instead
 * of what N watches now.  Until X has run and watches N, no taker may watch N, so N looks on a tick.
 * And until X runs, the kernel may wake it for a death that N has to see to; if X is killed then, it
 * may be that no taker is behind it to notice.  N does not watch X for that, as two waiters that watch
 * each other may both die unnoticed:
 *
 *	X dies; the kernel wakes one sleeper for that: N
 *	N is killed before it runs; only X would have been woken for that
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>

#include "clock.h"
#include "futex.h"

#define RELOOK_NS (60 * SECOND) /* a safety net, not a poll */
#define TICK_NS   (100 * MS) /* where the kernel can't watch for us; times the place in the line */

struct watch {
	struct futex_word word[FUTEX_MAX_WORDS];
	unsigned count;
	bool incomplete; /* not all is watched that must be: the waiter looks on a tick */
	bool again;      /* one of them died since the sweep: look again at once */
	uint64_t due_ns; /* when the pace or the gate may allow a start */
	bool first;      /* it is the head, and not the second in the line */
	bool asks;       /* it is the head, and only its own question keeps it */
	struct {
		uint32_t slot;
		uint64_t ticket;
	} orphan[ORPHANS_WATCHED];
	unsigned orphans;
};

_Static_assert(offsetof(struct slot, alive) == 0 && offsetof(struct alive, word) == 0,
	       "a slot is found by its word");

static const struct slot *
slot_of(const struct futex_word *word)
{
	return (const void *)(uintptr_t)word->address;
}

static void
watch_one(struct state *st, struct watch *w, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);
	uint32_t value;

	if (s == &st->nowhere)
		return;
	if (flki_alive_watch(&s->alive, &value)) {
		if (w->count < FUTEX_MAX_WORDS)
			w->word[w->count++] = flki_futex_on(&s->alive.word, value);
		else
			w->incomplete = true;
	} else if (!s->orphan) {
		w->again = true;
	} else if (w->orphans < ORPHANS_WATCHED) {
		w->orphan[w->orphans].slot = i;
		w->orphan[w->orphans++].ticket = s->ticket;
	} else {
		w->incomplete = true;
	}
}

/*
 * When time alone may bring a start.  The head has a timer for that.  The second in the line has
 * one for a little later, which matters only if the head is stopped and sleeps on.
 */
static uint64_t
due(struct state *st, uint32_t me, bool *is_first)
{
	uint32_t i = st->h->waiting.head, left = st->n, before = 0;
	const struct slot *first = NULL;
	uint64_t at, by_gate;

	if (!(flki_pace_is_set(st->h) || flki_gate_is_set(st->h)) ||
	    flki_state_at(st, me)->kind != TAKER)
		return UINT64_MAX;
	for (; i != NIL && left > 0 && before < 2; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (first == NULL && s->kind == TAKER)
			first = s;
		if (i == me) {
			*is_first = before == 0;
			at = flki_pace_look(st, first);
			if (before > 0 && at <= UINT64_MAX - TICK_NS)
				at += TICK_NS;
			by_gate = flki_gate_look(st, first, before == 0);
			return at < by_gate ? at : by_gate;
		}
		before += s->kind == TAKER;
		i = s->next;
	}
	return UINT64_MAX;
}

/*
 * Whether a waiter that this one has passed has not looked since its own predecessor became another.  It may
 * still sleep on a word that this one must watch, too; and of the sleepers on a word the kernel wakes one.
 * If that one is stopped or killed then, nobody else learns of the death: so this one looks on a tick.
 */
static bool
may_miss_a_death(struct state *st, const struct slot *s)
{
	uint64_t before = s->ticket;
	uint32_t i = s->next, left;

	if (!s->has_passed)
		return false;
	for (left = st->n; i != NIL && left > 0; left--) {
		const struct slot *behind = flki_state_at(st, i);
		if (behind->ticket < s->ticket && behind->watches != before)
			return true;
		before = behind->ticket;
		i = behind->next;
	}
	return false;
}

/*
 * Under the lock: collects the words that this taker must watch.  `value' is its wake word as it
 * was before the lock was taken, so a wake that came since then ends the sleep at once.
 */
static void
watch_all(struct state *st, struct watch *w, uint32_t me, uint32_t value)
{
	struct slot *s = flki_state_at(st, me);
	uint32_t i, left = st->n;

	w->count = w->orphans = 0;
	w->again = false;
	w->due_ns = due(st, me, &w->first);
	w->asks = flki_gate_asks(st, s);
	w->word[w->count++] = flki_futex_on(&s->wake, value);
	w->incomplete = may_miss_a_death(st, s);
	s->watches = s->prev != NIL ? flki_state_at(st, s->prev)->ticket : WATCHES_HOLDERS;
	if (s->prev != NIL) {
		watch_one(st, w, s->prev);
		return;
	}
	for (i = st->h->holders.head; i != NIL && left > 0; left--) {
		watch_one(st, w, i);
		i = flki_state_at(st, i)->next;
	}
}

/* Without the lock, as it starts threads. */
static void
watch_orphans(struct flk *f, struct watch *w)
{
	unsigned i;

	for (i = 0; i < w->orphans; i++)
		if (!flki_orphan_watch(f, w->orphan[i].slot, w->orphan[i].ticket))
			w->incomplete = true;
}

/*
 * 1 for the head; for another waiter its place in the line, or about that: a waiter that has passed
 * another one looks as often as that one.  One that came before the head, and was passed by it, may
 * stand anywhere.
 */
static uint64_t
distance(struct state *st, uint32_t me)
{
	const struct list *line = &st->h->waiting;
	uint64_t first = flki_state_at(st, line->head)->order;
	uint64_t mine = flki_state_at(st, me)->order, behind = line->count;

	if (me == line->head)
		return 1;
	if (flki_state_at(st, me)->prev == line->head)
		return 2;
	if (mine > first)
		behind = (mine - first) / PLACE_GAP;
	return behind < st->n ? behind + 1 : st->n;
}

static void
sleep_on(struct watch *w, uint64_t deadline, uint64_t tick, const sigset_t *mask)
{
	static _Atomic bool no_waitv;
	uint64_t now = flki_monotonic_ns();
	sigset_t saved;
	int error = 0;

	if (w->incomplete && now + TICK_NS < deadline)
		deadline = now + TICK_NS;
	if (mask != NULL)
		pthread_sigmask(SIG_SETMASK, mask, &saved);
	if (!atomic_load(&no_waitv)) {
		error = flki_futex_sleep_on(w->word, w->count, deadline);
		if (error == -ENOSYS)
			atomic_store(&no_waitv, true);
	}
	/* What the kernel can't watch, for want of memory say, is looked at on the tick, too. */
	if (atomic_load(&no_waitv) ||
	    (error != 0 && error != -EAGAIN && error != -EINTR && error != -ETIMEDOUT)) {
		if (now + tick < deadline)
			deadline = now + tick;
		flki_futex_sleep((const void *)(uintptr_t)w->word[0].address,
				 (uint32_t)w->word[0].value, deadline);
	}
	if (mask != NULL)
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

/* Has a watched taker died?  The kernel may have woken this taker instead of another. */
static bool
somebody_died(const struct watch *w)
{
	unsigned i;

	for (i = 1; i < w->count; i++)
		if (!flki_alive_is((const struct alive *)(uintptr_t)w->word[i].address))
			return true;
	return false;
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
	bool died = somebody_died(w), swept = false;
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
	if (flki_lock_is_left(t->flk->file.h) && !somebody_died(w))
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
	uint64_t until = flki_deadline_ns(deadline), wake_at, tick;
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
		watch_all(&st, &w, t->slot, value);
		tick = TICK_NS * distance(&st, t->slot);
		if ((error = flki_quit(t, &st)) != 0)
			return error;
		if (atomic_exchange(&t->interrupted, false))
			return -EINTR;
		if (st.now_ns >= until)
			return t->waited_for = -ETIMEDOUT;
		if (is_asked(t, &w, st.now_ns))
			return -FLK_ASK;
		watch_orphans(t->flk, &w);
		if (w.again)
			continue;
		wake_at = st.now_ns + RELOOK_NS < until ? st.now_ns + RELOOK_NS : until;
		sleep_on(&w, w.due_ns < wake_at ? w.due_ns : wake_at, tick, mask);
		slept_out = flki_monotonic_ns() >= wake_at;
		if ((error = flki_file_verify(&t->flk->file)) == -FLK_DAMAGED ||
		    (error == -FLK_GONE && taker_is_strange(t)))
			return error;
		if (atomic_load_explicit(&taker_slot(t)->state, memory_order_acquire) == HELD)
			return pass_on(t, &w);
	}
}
