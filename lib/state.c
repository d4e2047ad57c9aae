/* SPDX-License-Identifier: ISC */
/*
 * state.c - the line, the permits, and the rule by which a waiter becomes a holder.
 *
 * Every function here finds the invariants of layout.h true and leaves them true.  If its caller
 * is killed in between, the slots' states are those before or those after the commit (the store
 * marked so), and the next owner of the lock rebuilds the index from them (repair.c).
 *
 * A link may lie, as a program without the lock can have written it.  So each loop over a list runs
 * once for each slot at most: that is what `left' counts.
 *
 * A function wakes each taker that must learn of what it did:
 *
 * - a waiter that was granted a permit, or taken out of the line;
 * - a waiter that has another predecessor now, because it watches its predecessor's life;
 * - the head when the holders are others now, because it watches their lives.
 *
 * A wake is a hint: the taker that wakes looks again.
 */
#include "state.h"

#define COMMIT(s, to) atomic_store_explicit(&(s)->state, (to), memory_order_release)

static uint32_t
now_is(const struct slot *s)
{
	return atomic_load_explicit(&s->state, memory_order_relaxed);
}

void
flki_state_wake(struct state *st, uint32_t i)
{
	struct slot *s;

	if (i == NIL || i == st->me)
		return;
	s = flki_state_at(st, i);
	atomic_fetch_add(&s->wake, 1);
	if (s != &st->nowhere)
		st->world.wake(st->world.ctx, i);
}

/*
 * Slot i has become the head, or has another predecessor.  Where there is a pace or a gate, the waiter
 * behind i is woken as well: the second in the line has a timer for the case that the head is stopped
 * (due() in wait.c), and sets it only if it knows that it is the second.
 */
static void
wake_successor(struct state *st, uint32_t i)
{
	flki_state_wake(st, i);
	if (i != NIL && (flki_pace_is_set(st->h) || flki_gate_is_set(st->h)))
		flki_state_wake(st, flki_state_at(st, i)->next);
}

/* ---- granting ---- */

static bool
fits(struct state *st, const struct slot *s)
{
	return flki_state_has_room(st, s) &&
	       (!flki_gate_is_before(st->h, s) || flki_gate_allows(st, s));
}

static void
grant(struct state *st, uint32_t i)
{
	struct header *h = st->h;
	struct slot *s = flki_state_at(st, i);
	uint64_t since = s->since_ns;

	flki_state_apportion(st, s);
	/* If we are killed before the commit, no permit has this fence. */
	s->fence = h->last_fence + 1;
	flki_state_store(&h->last_fence, s->fence);
	s->in_force = h->override >= 0 ? (uint32_t)h->override : s->limit;
	s->since_ns = st->now_ns;
	s->orphan = 0;
	s->worker_pid = s->exit_seen_ms = 0;
	s->started_after_ns = s->started_before_ns = 0;
	s->waits_for[0] = 0;
	flki_pace_begin(st, s->ticket);
	if (flki_gate_is_set(h))
		flki_gate_begin(st);
	if (flki_fair_has_key(s))
		flki_fair_give(st, s);
	COMMIT(s, HELD);
	flki_pace_end(st);
	flki_state_unlink(st, &h->waiting, i);
	flki_state_insert(st, &h->holders, i);
	flki_state_count_in(st, s);
	h->declared = s->limit;
	h->granted++;
	flki_state_count_time(&h->waits, since, st->now_ns);
	flki_state_wake(st, i);
	flki_state_note(st, FLK_EV_GRANTED, i, 0);
}

/* A barrier is done when no holder is older.  The older waiters are before it in the line. */
static bool
barrier_done(struct state *st, const struct slot *s)
{
	uint32_t oldest = st->h->holders.head;

	return oldest == NIL || flki_state_at(st, oldest)->ticket > s->ticket;
}

static void
evict(struct state *st, uint32_t i, int32_t reason)
{
	struct slot *s = flki_state_at(st, i);
	struct event e;

	s->reason = reason;
	s->evictor_pid = st->me != NIL ? flki_state_at(st, st->me)->pid : 0;
	s->evictor_uid = st->me != NIL ? flki_state_at(st, st->me)->uid : 0;
	e = flki_state_event(st, FLK_EV_EVICTED, i, reason);
	COMMIT(s, OUT);
	flki_state_unlink(st, &st->h->waiting, i);
	st->h->barriers -= s->kind == BARRIER;
	flki_state_wake(st, i);
	if (s->kind == TAKER)
		flki_state_remember(st, &e);
}

/*
 * Serves the line from the head, and stops at the first taker that does not fit: no taker overtakes
 * another.  It goes past barriers, and ends those that are done.  A barrier behind the taker that
 * stays waits for that taker.
 */
void
flki_state_grant(struct state *st)
{
	struct header *h = st->h;
	uint32_t i = h->waiting.head, next, left = st->n;
	bool new_holders = false, new_predecessor = false, first_knows = false;

	for (; i != NIL && left > 0; i = next, left--) {
		struct slot *s = flki_state_at(st, i);
		next = s->next;
		if (s->kind == BARRIER && barrier_done(st, s)) {
			evict(st, i, 0);
			new_predecessor = true;
			continue;
		}
		if (s->kind == TAKER && fits(st, s)) {
			grant(st, i);
			new_holders = new_predecessor = true;
			continue;
		}
		if (new_predecessor) {
			wake_successor(st, i);
			first_knows |= i == h->waiting.head;
			new_predecessor = false;
		}
		if (s->kind == TAKER) {
			if (flki_gate_is_before(h, s))
				flki_gate_stands(st, i, flki_state_has_room(st, s));
			break;
		}
	}
	if (new_holders && !first_knows)
		flki_state_wake(st, h->waiting.head);
}

void
flki_state_wake_head(struct state *st)
{
	wake_successor(st, st->h->waiting.head);
}

/* ---- a taker's life ---- */

uint32_t
flki_state_enqueue(struct state *st, uint32_t i, enum slot_kind kind, const char *key)
{
	struct header *h = st->h;
	struct slot *s = flki_state_at(st, i);
	uint32_t passed;

	/* Pairing: with flki_local_holds().  After the end of the last permit, and before the rest. */
	flki_state_store_in_order(&s->ticket, h->last_ticket + 1);
	s->weight = s->least;
	/*
	 * The seat of a dead holder is still marked as taken.  A newcomer that will get its permit at
	 * once would take a higher seat, so it sweeps first; one that has to wait sweeps when it waits.
	 * There are sets of seats up to SEATS only; with more holders the sweep would cost more than it
	 * gives.
	 */
	if (kind == TAKER && h->holders.count <= SEATS && flki_state_has_room(st, s))
		flki_state_sweep_holders(st);
	/* A dead waiter has been given nothing: its key must not wait for what it asked for. */
	if (key != NULL)
		flki_state_reap_watched(st, NIL);
	flki_state_store(&h->last_ticket, s->ticket);
	s->kind = kind;
	s->passed_by = 0;
	flki_fair_arrive(st, s, key);
	passed = flki_state_find_place(st, s);
	s->has_passed = passed > 0;
	s->watches = WATCHES_NOTHING;
	s->since_ns = st->now_ns;
	s->orphan = 0;
	s->status = FLK_UNKNOWN;
	s->took = (struct took){ 0, 0 };
	COMMIT(s, WAITING);
	flki_state_insert(st, &h->waiting, i);
	h->barriers += kind == BARRIER;
	if (passed > 0)
		wake_successor(st, s->next);
	flki_state_grant(st);
	return passed;
}

/* Takes i out of the line, after its commit.  Its successor has another one to watch. */
static void
unqueue(struct state *st, uint32_t i)
{
	uint32_t next = flki_state_at(st, i)->next;

	flki_state_unlink(st, &st->h->waiting, i);
	st->h->barriers -= flki_state_at(st, i)->kind == BARRIER;
	wake_successor(st, next);
}

/* The taker gave up, after its commit. */
static void
depart(struct state *st, uint32_t i)
{
	unqueue(st, i);
	st->h->left++;
	flki_state_grant(st);
}

void
flki_state_leave(struct state *st, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);

	flki_fair_leave(st, s);
	COMMIT(s, IDLE);
	depart(st, i);
}

/* How many takers stand before waiter i; it counts no further than to `most'. */
static uint32_t
ahead_of(struct state *st, uint32_t i, uint32_t most)
{
	uint32_t before = flki_state_at(st, i)->prev, ahead = 0, left;

	for (left = st->n; ahead < most && before != NIL && left > 0; left--) {
		ahead += flki_state_at(st, before)->kind == TAKER;
		before = flki_state_at(st, before)->prev;
	}
	return ahead;
}

/* No taker has come since: all that stand behind it were passed. */
bool
flki_state_turn_away(struct state *st, uint32_t i, uint32_t queue)
{
	uint32_t next = flki_state_at(st, i)->next, left = st->n;

	/* The first look spares a taker without such a bound the second. */
	if (st->h->waiting.count <= queue || ahead_of(st, i, queue) < queue)
		return false;
	/* The gate kept it for an instant, so for who stood there the patience begins anew: not every time. */
	if (st->h->gate.waiter == flki_state_at(st, i)->ticket)
		flki_fair_leave(st, flki_state_at(st, i));
	COMMIT(flki_state_at(st, i), IDLE);
	for (; st->h->fair == FLK_FAIR_OFF && next != NIL && left > 0; left--) {
		struct slot *s = flki_state_at(st, next);
		s->passed_by -= s->passed_by > 0;
		next = s->next;
	}
	depart(st, i);
	return true;
}

void
flki_state_evict(struct state *st, uint32_t i, int32_t reason)
{
	struct slot *s = flki_state_at(st, i);
	uint32_t next = s->next;

	flki_fair_leave(st, s);
	evict(st, i, reason);
	st->h->evicted++;
	wake_successor(st, next);
	flki_state_grant(st);
}

/* Barriers stay, because they wait for the holders, and these stay too. */
void
flki_state_evict_all(struct state *st, int32_t reason)
{
	uint32_t i = st->h->waiting.head, next, left = st->n;
	bool new_predecessor = false;

	for (; i != NIL && left > 0; i = next, left--) {
		struct slot *s = flki_state_at(st, i);
		next = s->next;
		if (s->kind == TAKER) {
			evict(st, i, reason);
			st->h->evicted++;
			new_predecessor = true;
		} else if (new_predecessor) {
			flki_state_wake(st, i);
			new_predecessor = false;
		}
	}
	flki_state_grant(st);
}

void
flki_state_release(struct state *st, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);

	COMMIT(s, IDLE);
	flki_state_count_out(st, i);
	st->h->released++;
	flki_state_count_time(&st->h->holds, s->since_ns, st->now_ns);
	flki_state_note(st, FLK_EV_RELEASED, i, s->status);
	flki_state_grant(st);
}

void
flki_state_release_units(struct state *st, uint32_t i, uint32_t units)
{
	struct slot *s = flki_state_at(st, i);

	flki_state_mark_seats(st, s, false);
	__atomic_store_n(&s->weight, s->weight - units, __ATOMIC_RELEASE); /* the commit */
	flki_state_mark_seats(st, s, true);
	st->h->used -= units;
	flki_state_note(st, FLK_EV_UNITS, i, (int32_t)units);
	flki_state_grant(st);
}

/*
 * The units are withheld before the permit is over: between the two they count twice, so nobody takes
 * them.  If its owner is killed there, the dead holder is reaped, and that is the same result.
 */
void
flki_state_forget(struct state *st, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);

	flki_state_store(&st->h->withheld, st->h->withheld + s->weight);
	COMMIT(s, IDLE);
	flki_state_count_out(st, i);
	st->h->released++;
	flki_state_note(st, FLK_EV_FORGOT, i, (int32_t)s->weight);
	flki_state_grant(st);
}

/* ---- the dead ---- */

static void
reap(struct state *st, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);
	bool held = now_is(s) == HELD, ended = held && s->role == FLK_CARRIED;
	struct event e = flki_state_event(st, ended ? FLK_EV_RELEASED : FLK_EV_REAPED, i,
					  ended ? FLK_UNKNOWN : held);

	if (!held)
		flki_fair_leave(st, s);
	COMMIT(s, FREE);
	if (held)
		flki_state_count_out(st, i);
	else
		unqueue(st, i);
	/* It is counted without a time: when it ended is not known, only that we look now. */
	if (ended)
		st->h->released++;
	else
		st->h->reaped++;
	if (s->kind == TAKER || held)
		flki_state_remember(st, &e);
}

static bool
reap_if_dead(struct state *st, uint32_t i)
{
	struct slot *s = flki_state_at(st, i);
	enum fate fate;

	if (s == &st->nowhere)
		return false;
	fate = st->world.fate(st->world.ctx, i);
	s->orphan = fate == ORPHAN;
	if (fate == DEAD)
		reap(st, i);
	return fate == DEAD;
}

void
flki_state_sweep_holders(struct state *st)
{
	uint32_t i = st->h->holders.head, next, left = st->n;
	bool reaped = false;

	for (; i != NIL && left > 0; i = next, left--) {
		next = flki_state_at(st, i)->next;
		if (i != st->me)
			reaped |= reap_if_dead(st, i);
	}
	if (reaped)
		flki_state_grant(st);
}

bool
flki_state_reap_watched(struct state *st, uint32_t i)
{
	uint32_t before = NIL, left = st->n;

	while (left-- > 0 && i != NIL &&
	       flki_state_came_before(st, flki_state_at(st, i)->next, i) &&
	       reap_if_dead(st, flki_state_at(st, i)->next))
		;
	for (left = st->n; left > 0; left--) {
		before = i == NIL ? st->h->waiting.tail : flki_state_at(st, i)->prev;
		if (before == NIL || st->bad || !reap_if_dead(st, before))
			break;
	}
	if (before == NIL)
		flki_state_sweep_holders(st);
	/* If the living predecessor is a barrier, it holds up no taker: grant behind it. */
	flki_state_grant(st);
	/* Behind a barrier that is the head, this may have made a dead waiter a holder. */
	return before == NIL && st->h->barriers == 0;
}
