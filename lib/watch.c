/* SPDX-License-Identifier: ISC */
/*
 * watch.c - what a waiter sleeps on.
 *
 * A waiter sleeps on its own wake word, and on the `alive' words of the takers that it watches: the
 * head watches the holders, every other waiter watches its predecessor.  So the death of a taker,
 * by whatever means, wakes the waiter that has to reap it.
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
#include "watch.h"

#define TICK_NS (100 * MS) /* where the kernel can't watch for us; times the place in the line */

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

void
flki_watch_all(struct state *st, struct watch *w, uint32_t me, uint32_t value)
{
	struct slot *s = flki_state_at(st, me);
	uint32_t i, left = st->n;

	w->count = w->orphans = 0;
	w->again = false;
	w->due_ns = due(st, me, &w->first);
	w->asks = flki_gate_asks(st, s);
	w->tick_ns = TICK_NS * distance(st, me);
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

void
flki_watch_orphans(struct flk *f, struct watch *w)
{
	unsigned i;

	for (i = 0; i < w->orphans; i++)
		if (!flki_orphan_watch(f, w->orphan[i].slot, w->orphan[i].ticket))
			w->incomplete = true;
}

void
flki_watch_sleep(struct watch *w, uint64_t deadline, const sigset_t *mask)
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
		if (now + w->tick_ns < deadline)
			deadline = now + w->tick_ns;
		flki_futex_sleep((const void *)(uintptr_t)w->word[0].address,
				 (uint32_t)w->word[0].value, deadline);
	}
	if (mask != NULL)
		pthread_sigmask(SIG_SETMASK, &saved, NULL);
}

bool
flki_watch_saw_death(const struct watch *w)
{
	unsigned i;

	for (i = 1; i < w->count; i++)
		if (!flki_alive_is((const struct alive *)(uintptr_t)w->word[i].address))
			return true;
	return false;
}
