/* SPDX-License-Identifier: ISC */
/*
 * taker.c - a taker: its beginning and its end, what it knows of its permit, and how it gives up
 * its place or its permit.  acquire.c has its way to a permit.  The keeper does what a taker asks
 * for.
 */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "close_fd.h"
#include "descriptor.h"
#include "now.h"
#include "say.h"
#include "settings.h"

#define LET_GO SECOND /* how long an end waits for the store's answer */

static _Thread_local char thread_mark;

bool
taker_is_strange(const struct store_taker *t)
{
	return t->owner != &thread_mark || t->process != getpid();
}

int
taker_must_hold(const struct store_taker *t)
{
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	return t->state == PERMIT_HELD ? 0 : -FLK_NOPERMIT;
}

/* ---- its name and its state ---- */

void
taker_name(char self[STORE_SELF])
{
	uint64_t number = 0;

	while (number == 0) {
		if (getrandom(&number, sizeof(number), 0) != sizeof(number))
			number = now_ns() ^ ((uint64_t)getpid() << 40);
		number &= INT64_MAX;
	}
	snprintf(self, STORE_SELF, "%016" PRIx64, number);
}

void
wrapper_move(struct store_taker *t, enum permit_state state)
{
	state_check(&permit_rules[t->state], &permit_rules[state],
		    t->permit.ticket != 0 || (state != PERMIT_WAITING && state != PERMIT_HELD));
	t->state = state;
}

/* ---- its beginning and its end ---- */

static pthread_key_t at_thread_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool thread_ends_unseen;

/* In a child, the cell on the board still belongs to the parent. */
static void
untie(struct store_taker *t)
{
	if (t->process == getpid())
		link_untie(&t->tie);
	else
		link_forget(&t->tie);
}

/*
 * A taker belongs to its thread.  When the thread ends, the keeper sees the tie end, as if the
 * process had ended: it ends the wait and, unless a guard keeps it, the permit.  Any thread may
 * free what is left of the taker.
 */
static void
thread_ends(void *mark)
{
	struct store_taker *t;

	(void)mark;
	while ((t = LIST_FIRST(&takers_of_thread)) != NULL) {
		LIST_REMOVE(t, entry);
		untie(t);
		t->owner = NULL;
	}
}

static void
make_key(void)
{
	thread_ends_unseen = pthread_key_create(&at_thread_end, thread_ends) != 0;
}

static int
see_thread_end(void)
{
	pthread_once(&once, make_key);
	return thread_ends_unseen ? -EAGAIN : -pthread_setspecific(at_thread_end, &thread_mark);
}

int
store_taker_new(struct flk_taker **taker, struct flk *limiter)
{
	struct flk *local = ((struct store_limiter *)limiter)->local;
	int error = see_thread_end();
	struct store_taker *t = error == 0 ? calloc(1, sizeof(*t)) : NULL;

	if (t == NULL)
		return error != 0 ? error : -ENOMEM;
	t->flk = limiter;
	t->owner = &thread_mark;
	t->process = getpid();
	t->tie = TIE_NONE;
	t->guard.fd = t->guard.end = t->pidfd = -1;
	t->bell = flki_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (t->bell == -1)
		error = -errno;
	if (error == 0 && local != NULL)
		error = flk_taker_new(&t->local, local);
	if (error == 0)
		error = link_tie(&t->tie, limiter_of(t)->name);
	if (error != 0) {
		flk_taker_free(t->local);
		close_fd(&t->bell);
		free(t);
		return error;
	}
	LIST_INSERT_HEAD(&takers_of_thread, t, entry);
	await_tied(t);
	*taker = (struct flk_taker *)t;
	return 0;
}

void
store_taker_free(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);

	if (!taker_is_strange(t))
		store_leave(taker);
	/* A child has a copy of the list, too. */
	if (t->owner == &thread_mark)
		LIST_REMOVE(t, entry);
	untie(t);
	guard_drop(t);
	flk_taker_free(t->local);
	close(t->bell);
	free(t);
}

/* ---- the end of a wait or of a permit ---- */

void
taker_give_local_back(struct store_taker *t)
{
	if (t->local != NULL)
		flk_leave(t->local);
	t->local_held = false;
}

int
taker_local_guard(const struct store_taker *t)
{
	int fd, error = flk_guard(t->local, &fd);

	return error != 0 ? error : fd;
}

static bool
is_idle(const struct store_taker *t)
{
	return t->state == PERMIT_IDLE;
}

static bool
is_idle_or_lost(const struct store_taker *t)
{
	return t->state == PERMIT_IDLE || t->lost;
}

/* If the store does not answer in time, the keeper continues by itself. */
static int
let_go(struct store_taker *t, enum permit_state state)
{
	struct talk m = { .kind = state == PERMIT_LEAVING ? TALK_LEAVE : TALK_RELEASE,
			  .code = t->status,
			  .memory = t->memory,
			  .cpu_ns = t->cpu_ns };
	/* Nobody needs to wait until an unreachable store knows that the place is free. */
	uint64_t patience = state == PERMIT_LEAVING && t->away ? SECOND / 10 : LET_GO;
	int error;

	wrapper_move(t, state);
	error = talk_send(t->tie.socket, &m, -1);
	if (error == 0 || error == -EPIPE)
		error = await(t, state == PERMIT_LEAVING ? is_idle : is_idle_or_lost,
			      now_ns() + patience, NULL, false);
	if (error == -ETIMEDOUT && state == PERMIT_RELEASING)
		say(limiter_of(t)->name,
		    "the permit could not be given back yet: %s; the keeper keeps retrying; if it "
		    "cannot, %s",
		    t->away ? store_strerror(-FLK_STORE) : limiter_of(t)->where,
		    settings.manual ? "flocklimitctl break ends the permit"
				    : "the permit expires by itself");
	/* We close the socket too early for the answer: the keeper finishes, a new wait starts afresh. */
	if (t->state != PERMIT_IDLE) {
		link_untie(&t->tie);
		if (link_tie(&t->tie, limiter_of(t)->name) == 0)
			await_tied(t);
	}
	wrapper_move(t, PERMIT_IDLE);
	return error == -ETIMEDOUT ? 0 : error;
}

int
store_leave(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);
	int error = 0;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (permit_is_sought(t->state))
		error = let_go(t, PERMIT_LEAVING);
	else if (t->state == PERMIT_HELD)
		error = let_go(t, PERMIT_RELEASING);
	wrapper_move(t, PERMIT_IDLE);
	guard_drop(t);
	taker_give_local_back(t);
	return error;
}

int
store_release(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t);

	if (error != 0 || (error = await_hear(t)) != 0)
		return error;
	if (t->lost)
		store_trouble(t->lost_text);
	error = store_leave(taker);
	return t->lost && !settings.warn ? -FLK_LOST : error;
}

int
store_release_units(struct flk_taker *taker, uint32_t units)
{
	const struct store_taker *t = taker_of(taker);
	int error = taker_must_hold(t);

	if (error != 0)
		return error;
	if (units > t->permit.weight)
		return -FLK_OVERRELEASE;
	return units == t->permit.weight ? store_release(taker) : -ENOTSUP;
}

int
store_forget(struct flk_taker *taker)
{
	int error = taker_must_hold(taker_of(taker));

	return error != 0 ? error : -ENOTSUP;
}

/* ---- looking ---- */

int
store_permit(const struct flk_taker *taker, struct flk_permit *permit)
{
	const struct store_taker *t = const_taker_of(taker);
	int error = taker_must_hold(t);

	if (error == 0)
		*permit = t->permit;
	return error;
}

/* A store has no slots: its tickets are enough. */
uint32_t
store_slot(const struct flk_taker *taker)
{
	(void)taker;
	return 0;
}

void
store_evictor(const struct flk_taker *taker, pid_t *pid, uid_t *uid)
{
	const struct store_taker *t = const_taker_of(taker);
	if (t->local_refused) {
		flk_evictor(t->local, pid, uid);
		return;
	}
	*pid = t->evictor;
	*uid = t->evictor_uid;
}
