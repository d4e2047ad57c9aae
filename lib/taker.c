/* SPDX-License-Identifier: ISC */
/*
 * taker.c - a taker's life: into the line, out of it again or on to a permit, and the end of the
 * permit.  wait.c has the wait, and permit.c what the owner of a permit says of it.
 */
#include "internal.h"
#include "request.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "futex.h"

int
flki_local_taker_new(struct flk_taker **taker, struct flk *limiter)
{
	struct flk_taker *t = calloc(1, sizeof(*t));

	if (t == NULL)
		return -ENOMEM;
	t->flk = limiter;
	t->slot = NIL;
	t->guard_fd = -1;
	*taker = t;
	return 0;
}

void
flki_local_taker_free(struct flk_taker *t)
{
	if (!taker_is_strange(t)) {
		flki_local_leave(t);
		flki_slot_drop(t);
	} else if (taker_is_ours(t)) { /* but the file says that its slot is another taker's */
		flki_guard_drop(t);
		flki_alive_drop(&taker_slot(t)->alive);
	} else if (t->slot != NIL && t->process == flki_robust_process()) {
		flki_guard_drop(t); /* its thread has ended, but this process keeps the guard */
	}
	free(t->pressures);
	free(t);
}

static void
remember_command(struct slot *s, const char *command)
{
	size_t n = command != NULL ? strnlen(command, sizeof(s->command) - 1) : 0;

	memcpy(s->command, command != NULL ? command : "", n);
	s->command[n] = '\0';
}

/* For a newcomer that got no permit at once. */
static int
stay_or_leave(struct state *st, uint32_t me, const struct flk_request *want, bool wait)
{
	uint32_t queue = !wait ? 0 : want->limit_queue ? want->max_queue : UINT32_MAX;

	if (!flki_state_turn_away(st, me, queue))
		return -EINPROGRESS;
	return wait ? -FLK_FULL : -EAGAIN;
}

/*
 * No takers draw so many: a program has written there.  The place of the next ticket, or the next
 * fence, would be before all others.
 */
static bool
no_ticket_left(const struct state *st)
{
	return st->h->last_ticket >= LAST_TICKET || st->h->last_fence == UINT64_MAX;
}

/* It excludes so many seats itself that its weight would never fit. */
static bool
too_few_seats(uint64_t excluded, uint32_t weight, uint32_t limit)
{
	return excluded != 0 && limit <= FLK_SEATS &&
	       weight > flki_seats_count(flki_seats_below(limit) & ~excluded);
}

/* See `asks' in layout.h. */
static uint32_t
asks_for(uint64_t patience_ns)
{
	uint64_t seconds = (patience_ns != 0 ? patience_ns : FLK_PATIENCE_NS) / SECOND;

	if (patience_ns == UINT64_MAX)
		return UINT32_MAX;
	return seconds < UINT32_MAX - 1 ? (uint32_t)seconds + 1 : UINT32_MAX - 1;
}

/* Without the lock: does a newcomer have to look at the machine?  A wrong answer costs time. */
__attribute__((no_sanitize("thread"))) static bool
would_be_head(const struct header *h)
{
	return __atomic_load_n(&h->waiting.head, __ATOMIC_RELAXED) == NIL;
}

/*
 * By what a fair limiter counts this taker; NULL: the limiter is not fair.  A caller that may have forked
 * since the last call asks for its session here, and not before it has the lock, as few limiters need it.
 */
static const char *
key_of(const struct header *h, const struct slot *s, const struct flk_request *want,
       char key[FLK_KEY])
{
	memset(key, 0, FLK_KEY);
	switch (h->fair) {
	case FLK_FAIR_USER:
		snprintf(key, FLK_KEY, "%" PRIu32, s->uid);
		return key;
	case FLK_FAIR_SESSION:
		snprintf(key, FLK_KEY, "%ld",
			 (long)(want->session != 0 ? want->session : getsid(0)));
		return key;
	case FLK_FAIR_KEY:
		snprintf(key, FLK_KEY, "%s",
			 want->key != NULL && *want->key != '\0' ? want->key : "-");
		return key;
	default:
		return NULL;
	}
}

static int
queue_up(struct flk_taker *t, const struct flk_request *want, bool wait, uint64_t until)
{
	uint32_t weight = want->weight != 0 ? want->weight : 1;
	uint32_t usual;
	struct state st;
	struct slot *s;
	char key[FLK_KEY];
	bool swept = false;
	uint32_t passed;
	int error, result;

	if (!flki_request_is_sane(want))
		return -EINVAL;
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->slot != NIL && state_of(taker_slot(t)) != IDLE)
		return -FLK_BUSY;
	/* Before the lock, because it reads files if no taker has declared a limit yet. */
	usual = want->limit == 0 ? flki_local_declared(t->flk) : want->limit;
	t->yes = false;
	t->asked_ns = 0;
	if (would_be_head(t->flk->file.h)) {
		if (flki_gate_is_set(t->flk->file.h))
			flki_look(t, !wait);
		if (!wait && want->ask != NULL)
			flki_local_answer(t, want->ask(want->ask_context));
	}
	if ((error = flki_enter_until(t, &st, until, NULL)) != 0)
		return error;
	t->waited_for = 0;
	s = taker_slot(t);
	flki_state_ask(s, want);
	s->limit = want->limit == 0 && st.h->declared != 0 ? st.h->declared : usual;
	if (no_ticket_left(&st)) {
		result = -FLK_DAMAGED;
	} else if (st.h->closed) {
		result = -FLK_CLOSED;
	} else if (weight > s->limit || too_few_seats(want->not_seats, weight, s->limit)) {
		result = -FLK_HEAVY;
	} else {
		remember_command(s, want->command);
		s->role = (uint32_t)want->role & 0xff;
		s->asks = want->ask != NULL ? asks_for(want->ask_patience_ns) : 0;
		passed = flki_state_enqueue(&st, t->slot, TAKER, key_of(st.h, s, want, key));
		if (state_of(s) == WAITING)
			swept = flki_state_reap_watched(&st, t->slot);
		/* The head, which watches the holders, may be stopped. */
		if (state_of(s) == WAITING && !swept)
			flki_state_sweep_holders(&st);
		result = state_of(s) == HELD ? 0 : stay_or_leave(&st, t->slot, want, wait);
		if (result == -EINPROGRESS)
			flki_state_note(&st, FLK_EV_QUEUED, t->slot, (int32_t)passed);
	}
	error = flki_quit(t, &st);
	return error != 0 ? error : result;
}

int
flki_local_enqueue(struct flk_taker *t, const struct flk_request *want)
{
	return queue_up(t, want, true, flki_as_asked(t->flk));
}

int
flki_local_try(struct flk_taker *t, const struct flk_request *want)
{
	return queue_up(t, want, false, flki_as_asked(t->flk));
}

int
flki_local_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until)
{
	int error = queue_up(t, want, true, until);

	return error == -FLK_STUCK ? flki_kept_out(t, until) : error;
}

int
flki_local_wait_idle(struct flk_taker *t, const struct timespec *deadline)
{
	struct state st;
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->slot != NIL && state_of(taker_slot(t)) != IDLE)
		return -FLK_BUSY;
	error = flki_enter_until(t, &st, flki_deadline_ns(deadline), NULL);
	if (error == -FLK_STUCK)
		return flki_kept_out(t, flki_deadline_ns(deadline));
	if (error != 0)
		return error;
	if (no_ticket_left(&st)) {
		flki_quit(t, &st);
		return -FLK_DAMAGED;
	}
	flki_state_enqueue(&st, t->slot, BARRIER, NULL);
	if (state_of(taker_slot(t)) == WAITING)
		flki_state_reap_watched(&st, t->slot);
	if ((error = flki_quit(t, &st)) != 0)
		return error;
	error = flki_local_wait(t, deadline, NULL);
	if (error == -ETIMEDOUT)
		flki_local_leave(t);
	return error;
}

/*
 * Ends the taker's wait, with `why' in the history, or its permit.  After that no waiter needs to
 * watch it, so its death will wake none.
 */
static void
end(struct state *st, uint32_t me, int why)
{
	struct slot *s = flki_state_at(st, me);

	switch (state_of(s)) {
	case WAITING:
		flki_state_leave(st, me);
		if (s->kind == TAKER)
			flki_state_note(st, FLK_EV_LEFT, me, why);
		break;
	case HELD:
		flki_state_release(st, me);
		break;
	case OUT:
		atomic_store(&s->state, IDLE);
		break;
	default:
		break;
	}
	flki_alive_unwatch(&s->alive);
}

int
flki_local_leave(struct flk_taker *t)
{
	struct state st;
	int error;

	if (t->slot == NIL)
		return 0;
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	flki_guard_drop(t);
	/* A taker that the lock's owner has kept out until now does not wait for the lock again. */
	error = flki_enter_until(t, &st, t->patience.naps > 0 ? AT_ONCE : NOT_LONG, NULL);
	if (error == -FLK_STUCK) {
		flki_slot_abandon(t);
		return 0;
	}
	if (error != 0)
		return error;
	end(&st, t->slot, t->waited_for);
	return flki_quit(t, &st);
}

int
flki_local_release(struct flk_taker *t)
{
	int error = check_held(t, 0);

	return error != 0 ? error : flki_local_leave(t);
}

/* If an operator shrinks the permit between the look and the lock, it looks again. */
int
flki_local_release_units(struct flk_taker *t, uint32_t units)
{
	struct state st;
	bool shrunk;
	int error;

	do {
		if ((error = check_held(t, units)) != 0)
			return error;
		if (units == weight_of(taker_slot(t)))
			return flki_local_leave(t);
		if ((error = flki_enter(t, &st)) != 0)
			return error;
		shrunk = units >= taker_slot(t)->weight;
		if (!shrunk)
			flki_state_release_units(&st, t->slot, units);
		error = flki_quit(t, &st);
	} while (error == 0 && shrunk);
	return error;
}

int
flki_local_forget(struct flk_taker *t)
{
	struct state st;
	int error = check_held(t, 0);

	if (error != 0)
		return error;
	if ((error = flki_enter(t, &st)) != 0)
		return error;
	flki_state_forget(&st, t->slot);
	flki_alive_unwatch(&taker_slot(t)->alive);
	error = flki_quit(t, &st);
	flki_guard_drop(t);
	return error;
}

void
flki_local_evictor(const struct flk_taker *t, pid_t *pid, uid_t *uid)
{
	bool known = t->slot != NIL && !taker_is_strange(t);

	*pid = known ? (pid_t)taker_slot(t)->evictor_pid : 0;
	*uid = known ? (uid_t)taker_slot(t)->evictor_uid : 0;
}

/* Sets the flag, and ends the sleep.  The waiter looks at the flag before it sleeps again. */
static void
end_wait(struct flk_taker *t, _Atomic uint32_t *why)
{
	uint32_t slot = t->slot; /* read once: the taker's own thread may abandon it */
	int saved = errno;

	atomic_store(why, true);
	if (slot != NIL) {
		atomic_fetch_add(&t->flk->file.slots[slot].wake, 1);
		flki_futex_wake(&t->flk->file.slots[slot].wake);
	}
	errno = saved;
}

void
flki_local_cancel(struct flk_taker *t)
{
	end_wait(t, &t->cancelled);
}

void
flki_local_interrupt(struct flk_taker *t)
{
	end_wait(t, &t->interrupted);
}

void
flki_local_answer(struct flk_taker *t, bool yes)
{
	t->yes = yes;
	t->asked_ns = flki_monotonic_ns();
}
