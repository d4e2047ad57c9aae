/* SPDX-License-Identifier: ISC */
/*
 * acquire.c - a taker's way to a permit: through this machine's line, if there is one, into the
 * store's line, and the wait there.  taker.c has what comes after it.
 *
 * With --local a taker first takes a permit of the limiter file of this machine that has the same
 * name, and then asks the store for one.  No taker takes the two in the other order, so no two
 * takers can wait for each other.
 */
#include "internal.h"

#include <errno.h>
#include <unistd.h>

#include "clock.h"
#include "now.h"
#include "request.h"
#include "settings.h"

#define BRIEFLY  (3 * SECOND / 10) /* a wait so short that it does not count as one */
#define TRY_AWAY (2 * SECOND)      /* flk_try() does not give up for one lost packet */
#define TRY_MOST (15 * SECOND)

/* ---- into the line ---- */

static bool
is_decided(const struct store_taker *t)
{
	return t->state != PERMIT_ENTERING;
}

static bool
is_out_of_line(const struct store_taker *t)
{
	return !permit_is_sought(t->state);
}

static int
check_want(const struct store_taker *t, const struct flk_request *want)
{
	uint32_t weight = want->weight != 0 ? want->weight : 1;

	if (!flki_request_is_sane(want))
		return -EINVAL;
	/*
	 * A store grants a fixed weight, in an order of its own, on the smallest free seat, and asks
	 * no question.
	 */
	if (want->most > weight || want->yield > 0 || want->not_seats != 0 || want->ask != NULL)
		return -ENOTSUP;
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->state != PERMIT_IDLE)
		return -FLK_BUSY;
	if (want->limit != 0 && want->weight > want->limit)
		return -FLK_HEAVY;
	return 0;
}

static void
remember(struct store_taker *t, const struct flk_request *want, bool no_wait)
{
	t->want = (struct fleet_want){ .weight = want->weight != 0 ? want->weight : 1,
				       .limit = want->limit,
				       .fallback = limiter_of(t)->fallback,
				       .no_wait = no_wait,
				       .limit_queue = want->limit_queue,
				       .max_queue = want->max_queue,
				       .which = limiter_of(t)->which,
				       .pace = limiter_of(t)->pace,
				       .fair = limiter_of(t)->fair,
				       .share = want->share,
				       .session = want->session != 0 ? want->session : getsid(0),
				       .role = want->role,
				       .pid = getpid(),
				       .uid = getuid() };
	talk_copy(t->want.command, sizeof(t->want.command), want->command);
	talk_copy(t->want.key, sizeof(t->want.key), want->key);
	t->want.tells = !settings.quiet && !atomic_exchange(&limiter_of(t)->told, true);
	taker_name(t->self);
	t->key[0] = '\0';
	t->lost = t->killed = t->away = t->away_reported = t->local_refused = false;
	t->code = 0;
	t->status = FLK_UNKNOWN;
	t->memory = t->cpu_ns = 0;
	t->evictor = 0;
	t->evictor_uid = 0;
	atomic_store(t->tie.alive_ns, 0);
}

static int
ask_store(struct store_taker *t)
{
	struct talk m = { .kind = TALK_ENTER, .want = t->want };
	int error;

	talk_copy(m.self, sizeof(m.self), t->self);
	if ((error = await_hear(t)) != 0)
		return error;
	/* From here on the taker has its new name, whichever keeper receives it. */
	error = talk_send(t->tie.socket, &m, -1);
	wrapper_move(t, PERMIT_ENTERING);
	return error == -EPIPE ? await_hear(t) : error;
}

/* The result: 0 held, -EINPROGRESS, or why the taker is out of the line. */
static int
outcome(struct store_taker *t)
{
	if (t->state == PERMIT_HELD)
		return 0;
	if (t->state != PERMIT_IDLE)
		return -EINPROGRESS;
	taker_give_local_back(t);
	return t->code != 0 ? t->code : -FLK_NOPERMIT;
}

/* The taker holds this machine's permit by now. */
static int
go_to_store(struct store_taker *t)
{
	struct talk m = { .kind = TALK_LOCAL };
	int error = 0, fd;

	if (t->local != NULL) {
		t->local_held = true;
		fd = taker_local_guard(t);
		error = fd < 0 ? fd : await_send(t, &m, fd);
	}
	if (error == 0)
		error = ask_store(t);
	if (error != 0) {
		wrapper_move(t, PERMIT_IDLE);
		taker_give_local_back(t);
	}
	return error;
}

/*
 * Brings the taker into the store's line, or first into this machine's, if there is one: 0; -EINPROGRESS:
 * the taker waits in this machine's line; or why it can't enter.
 */
static int
set_out(struct store_taker *t, const struct flk_request *want, bool no_wait)
{
	struct flk_request local;
	int error = check_want(t, want);

	if (error != 0)
		return error;
	remember(t, want, no_wait);
	local = (struct flk_request){ .weight = t->want.weight,
				      .limit = settings.local,
				      .command = t->want.command,
				      .role = t->want.role };
	if (t->local != NULL)
		error = no_wait ? flk_try(t->local, &local) : flk_enqueue(t->local, &local);
	if (error == 0)
		return go_to_store(t);
	if (error == -EINPROGRESS)
		wrapper_move(t, PERMIT_LOCAL);
	t->local_refused = t->state == PERMIT_IDLE;
	return error;
}

int
store_enqueue(struct flk_taker *taker, const struct flk_request *want)
{
	struct store_taker *t = taker_of(taker);
	int error = set_out(t, want, false);

	if (error != 0)
		return error;
	error = await(t, is_decided, now_ns() + BRIEFLY, NULL, false);
	return error != 0 && error != -ETIMEDOUT ? error : outcome(t);
}

static bool
is_tried(const struct store_taker *t)
{
	return is_out_of_line(t) || (t->away && now_ns() - t->away_ns >= TRY_AWAY);
}

int
store_try(struct flk_taker *taker, const struct flk_request *want)
{
	struct store_taker *t = taker_of(taker);
	uint64_t until = now_ns() + TRY_MOST, slice;
	int error = set_out(t, want, true);

	if (error != 0)
		return error;
	do {
		slice = earlier(now_ns() + BRIEFLY, until);
		error = await(t, is_tried, slice, NULL, false);
	} while (error == -ETIMEDOUT && now_ns() < until);
	if (error != 0 && error != -ETIMEDOUT)
		return error;
	if (is_out_of_line(t))
		return outcome(t);
	store_leave(taker);
	return -EAGAIN;
}

/* ---- in the line ---- */

int
store_wait(struct flk_taker *taker, const struct timespec *deadline, const sigset_t *mask)
{
	struct store_taker *t = taker_of(taker);
	int error = 0;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->state == PERMIT_IDLE)
		return -FLK_NOPERMIT;
	if (t->state == PERMIT_LOCAL) {
		error = flk_wait(t->local, deadline, mask);
		if (error == -FLK_CANCELLED)
			atomic_store(&t->cancelled, false);
		if (error == -EINTR)
			atomic_store(&t->interrupted, false);
		if (error != 0 && error != -ETIMEDOUT && error != -EINTR && error != -FLK_STUCK) {
			wrapper_move(t, PERMIT_IDLE);
			t->local_refused = true;
		}
		if (error == 0 && (error = go_to_store(t)) != 0)
			return error;
	}
	if (error == 0)
		error = await(t, is_out_of_line, flki_deadline_ns(deadline), mask, true);
	if (error == -FLK_CANCELLED)
		store_leave(taker);
	return error != 0 ? error : outcome(t);
}

/* The keeper holds the place: no other taker of this machine can keep us out of the line. */
int
store_queue(struct flk_taker *taker, const struct flk_request *want, uint64_t until_ns)
{
	(void)until_ns;
	return store_enqueue(taker, want);
}

static void
ring(struct store_taker *t)
{
	uint64_t one = 1;
	int saved = errno;
	ssize_t n;

	n = write(t->bell, &one, sizeof(one));
	(void)n; /* a failed write means that the bell rings already */
	errno = saved;
}

void
store_cancel(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);
	atomic_store(&t->cancelled, true);
	if (t->local != NULL)
		flk_cancel(t->local);
	ring(t);
}

void
store_interrupt(struct flk_taker *taker)
{
	struct store_taker *t = taker_of(taker);
	atomic_store(&t->interrupted, true);
	if (t->local != NULL)
		flk_interrupt(t->local);
	ring(t);
}
