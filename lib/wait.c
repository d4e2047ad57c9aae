/*
 * wait.c - standing in the line.
 *
 * A waiter sleeps on its own wake word and on the lives of those it must watch: the first in the
 * line watches the holders, everyone else the one before it.  So whoever dies, by whatever
 * means, wakes exactly the one who has to mend it.
 *
 * The kernel wakes one sleeper per death, and that may be one who was woken already and has
 * another place by now.  Therefore whoever wakes looks once more at those it watched.
 */
#include "internal.h"

#include <errno.h>
#include <signal.h>

#include "futex.h"

#define RELOOK_NS UINT64_C(60000000000) /* a safety net, not a poll */
#define TICK_NS   UINT64_C(100000000)   /* where the kernel can't watch for us; the first's */

struct watch {
	struct futex_word word[FUTEX_MAX_WORDS];
	unsigned count;
	bool incomplete; /* somebody must be looked at on a tick */
	bool again;      /* somebody died since we looked */
	uint64_t due_ns; /* when to see what time has brought */
	struct {
		uint32_t slot;
		uint64_t ticket;
	} orphan[ORPHANS_WATCHED];
	unsigned orphans;
};

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
 * When time alone may bring a start.  The first in the line has a timer for that, and the one behind
 * it a later one, which matters only if the first is stopped and sleeps on.
 */
static uint64_t
due(struct state *st, uint32_t me)
{
	uint32_t i = st->h->waiting.head, left = st->n, before = 0;
	const struct slot *first = NULL;
	uint64_t at;

	if (!flki_pace_is_set(st->h) || flki_state_at(st, me)->kind != TAKER)
		return UINT64_MAX;
	for (; i != NIL && left > 0 && before < 2; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (first == NULL && s->kind == TAKER)
			first = s;
		if (i == me) {
			at = flki_pace_look(st, first);
			return before == 0 || at > UINT64_MAX - TICK_NS ? at : at + TICK_NS;
		}
		before += s->kind == TAKER;
		i = s->next;
	}
	return UINT64_MAX;
}

/* Under the lock: whom must this taker watch?  `value' is its wake word as it was before. */
static void
watch_all(struct state *st, struct watch *w, uint32_t me, uint32_t value)
{
	const struct slot *s = flki_state_at(st, me);
	uint32_t i, left = st->n;

	w->count = w->orphans = 0;
	w->incomplete = w->again = false;
	w->due_ns = due(st, me);
	w->word[w->count++] = flki_futex_on(&s->wake, value);
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

/* How far from the head, at most: 1 for the head. */
static uint64_t
distance(struct state *st, uint32_t me)
{
	uint64_t first = flki_state_at(st, st->h->waiting.head)->ticket;
	uint64_t behind = flki_state_at(st, me)->ticket - first;

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
	/* For want of memory, say: what can't be watched now is looked at on the tick, too. */
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

/* Somebody we watched may have died and woken us, who no longer care, instead of the next. */
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
 * Under the lock: sees to it that their deaths are known to those who must know.  One that left an
 * orphan is not reaped, so the sweep tells nobody; but its end wakes only who waits for its guard.
 */
static void
tell_of_the_dead(struct state *st, const struct watch *w)
{
	bool orphaned = false;
	unsigned i;

	for (i = 1; i < w->count; i++) {
		const struct slot *s = (const void *)(uintptr_t)w->word[i].address;
		if (!flki_alive_is(&s->alive) && atomic_load(&s->state) == WAITING)
			flki_state_poke(st, s->next);
	}
	flki_state_sweep_holders(st);
	for (i = 1; i < w->count; i++) {
		const struct slot *s = (const void *)(uintptr_t)w->word[i].address;
		orphaned |= !flki_alive_is(&s->alive) && atomic_load(&s->state) == HELD;
	}
	if (orphaned)
		flki_state_rouse(st);
}

/*
 * Granted, and so out of the line.  Who granted may be inside still, with more to grant and to
 * tell, and no longer watched by anyone but us: then we go in after him.
 */
static int
pass_on(struct flk_taker *t, const struct watch *w)
{
	struct state st;
	int error;

	/* It may be another's by now, and the permit with it. */
	if (!taker_has_slot(t))
		return -FLK_MISTAKEN;
	if (flki_lock_is_left(t->flk->file.h) && !somebody_died(w))
		return 0;
	if ((error = flki_enter_until(t, &st, NOT_LONG, NULL)) != 0)
		return error == -FLK_STUCK ? 0 : error;
	if (somebody_died(w))
		tell_of_the_dead(&st, w);
	return flki_quit(t, &st);
}

/* Why somebody took us out of the line.  Only a barrier is done by that. */
static int
reason_of(const struct slot *s)
{
	int32_t reason = s->reason;

	if (reason == 0 && s->kind == BARRIER)
		return 0;
	return reason == -FLK_CLOSED ? -FLK_CLOSED : -FLK_EVICTED;
}

/* Under the lock: 0 held, -EINPROGRESS still in the line, or why it no longer is. */
static int
look(struct flk_taker *t, struct state *st, bool relook)
{
	struct slot *s = taker_slot(t);

	if (atomic_load(&s->state) == WAITING)
		flki_state_mend(st, t->slot);
	/* Whose turn it is to look after the holders may be stopped. */
	if (atomic_load(&s->state) == WAITING && relook)
		flki_state_sweep_holders(st);
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
		return -FLK_NOPERMIT; /* it never stood in the line */
	}
}

/* Taken out of the line, and then the limiter was removed: the first is what it hears. */
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
	/* It can't leave the line in another way. */
	if (atomic_exchange(&t->cancelled, false)) {
		flki_abandon(t);
		return t->waited_for = -FLK_CANCELLED;
	}
	if (atomic_exchange(&t->interrupted, false))
		return -EINTR;
	return t->waited_for = flki_monotonic_ns() >= until ? -ETIMEDOUT : -FLK_STUCK;
}

int
flk_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask)
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
		error = flki_enter_until(t, &st, until, mask);
		if (error == -FLK_STUCK)
			return flki_kept_out(t, until);
		if (error != 0)
			return out_or(t, error);
		if (!taker_has_slot(t)) {
			flki_leave_lock(t, &st);
			return -FLK_MISTAKEN;
		}
		if (somebody_died(&w))
			tell_of_the_dead(&st, &w);
		error = look(t, &st, slept_out);
		if (error != -EINPROGRESS) {
			if (atomic_load(&taker_slot(t)->state) != HELD)
				flki_alive_unwatch(&taker_slot(t)->alive);
			damage = flki_quit(t, &st);
			return damage != 0 ? damage : error;
		}
		watch_all(&st, &w, t->slot, value);
		tick = TICK_NS * distance(&st, t->slot);
		if ((error = flki_quit(t, &st)) != 0)
			return error;
		if (atomic_exchange(&t->interrupted, false))
			return -EINTR;
		if (st.now_ns >= until)
			return t->waited_for = -ETIMEDOUT;
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
