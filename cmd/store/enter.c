/*
 * enter.c - a taker's way to a permit: through this machine's line, where there is one, into the
 * store's line, and the wait there.  taker.c has what comes after it.
 */
#include "internal.h"
#include "share.h"

#include <errno.h>
#include <unistd.h>

#include "futex.h"
#include "here.h"
#include "now.h"
#include "tend.h"

#define BRIEFLY  (3 * SECOND / 10) /* a wait that is not one yet */
#define TRY_AWAY (2 * SECOND)      /* flk_try() does not give up for one lost packet */
#define TRY_MOST (15 * SECOND)

/* ---- into the line ---- */

static bool
is_decided(const struct flk_taker *t)
{
	return t->stage != ENTERING;
}

static bool
is_out_of_line(const struct flk_taker *t)
{
	return t->stage != ENTERING && t->stage != LINE;
}

static int
check_want(const struct flk_taker *t, const struct flk_request *want)
{
	if (want->weight > FLK_MAX_UNITS || want->limit > FLK_MAX_UNITS)
		return -EINVAL;
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage != IDLE)
		return -FLK_BUSY;
	if (want->limit != 0 && want->weight > want->limit)
		return -FLK_HEAVY;
	return 0;
}

static void
remember(struct flk_taker *t, const struct flk_request *want, bool no_wait)
{
	t->want = (struct engine_want){ .weight = want->weight != 0 ? want->weight : 1,
					.limit = want->limit,
					.fallback = t->flk->fallback,
					.no_wait = no_wait,
					.limit_queue = want->limit_queue,
					.max_queue = want->max_queue,
					.role = want->role,
					.pid = getpid(),
					.uid = getuid() };
	talk_copy(t->want.command, sizeof(t->want.command), want->command);
	taker_name(t->self);
	t->key[0] = '\0';
	t->lost = t->killed = t->away = t->away_told = t->here_refused = false;
	t->code = t->waited_for = 0;
	t->evictor = 0;
	t->evictor_uid = 0;
	atomic_store(&board_ns[t->tie.place], 0);
}

static int
ask_store(struct flk_taker *t)
{
	struct talk m = { .kind = TALK_ENTER, .want = t->want };
	int error;

	talk_copy(m.self, sizeof(m.self), t->self);
	if ((error = await_hear(t)) != 0)
		return error;
	/* By its new name from here on, whichever keeper hears of it. */
	error = talk_send(t->tie.socket, &m, -1);
	t->stage = ENTERING;
	return error == -EPIPE ? await_hear(t) : error;
}

/* What came of it: 0 held, -EINPROGRESS, or why it is out of the line. */
static int
outcome(struct flk_taker *t)
{
	if (t->stage == HELD)
		return 0;
	if (t->stage != IDLE)
		return -EINPROGRESS;
	taker_give_here_back(t);
	return t->code != 0 ? t->code : -FLK_NOPERMIT;
}

/* With this machine's permit in hand. */
static int
go_to_store(struct flk_taker *t)
{
	struct talk m = { .kind = TALK_HERE };
	int error = 0, fd;

	if (t->here != NULL) {
		t->here_held = true;
		fd = here_guard(t->here);
		error = fd < 0 ? fd : await_send(t, &m, fd);
	}
	if (error == 0)
		error = ask_store(t);
	if (error != 0) {
		t->stage = IDLE;
		taker_give_here_back(t);
	}
	return error;
}

int
flk_enqueue(struct flk_taker *t, const struct flk_request *want)
{
	int error = check_want(t, want);

	if (error != 0)
		return error;
	remember(t, want, false);
	if (t->here != NULL && (error = here_enqueue(t->here, &t->want)) != 0) {
		t->stage = error == -EINPROGRESS ? HERE : IDLE;
		t->here_refused = t->stage == IDLE;
		return error;
	}
	if ((error = go_to_store(t)) != 0)
		return error;
	error = await(t, is_decided, now_ns() + BRIEFLY, NULL, false);
	return error != 0 && error != -ETIMEDOUT ? error : outcome(t);
}

static bool
is_tried(const struct flk_taker *t)
{
	return is_out_of_line(t) || (t->away && now_ns() - t->away_ns >= TRY_AWAY);
}

int
flk_try(struct flk_taker *t, const struct flk_request *want)
{
	uint64_t until = now_ns() + TRY_MOST, slice;
	int error = check_want(t, want);

	if (error != 0)
		return error;
	remember(t, want, true);
	if (t->here != NULL && (error = here_try(t->here, &t->want)) != 0) {
		t->here_refused = true;
		return error;
	}
	if ((error = go_to_store(t)) != 0)
		return error;
	do {
		slice = now_ns() + BRIEFLY;
		error = await(t, is_tried, slice < until ? slice : until, NULL, false);
	} while (error == -ETIMEDOUT && now_ns() < until);
	if (error != 0 && error != -ETIMEDOUT)
		return error;
	if (is_out_of_line(t))
		return outcome(t);
	flk_leave(t);
	return -EAGAIN;
}

/* ---- in the line ---- */

int
flk_wait(struct flk_taker *t, const struct timespec *deadline, const sigset_t *mask)
{
	int error = 0;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage == IDLE)
		return -FLK_NOPERMIT;
	if (t->stage == HERE) {
		error = here_wait(t->here, deadline, mask);
		if (error == -FLK_CANCELLED)
			atomic_store(&t->cancelled, false);
		if (error == -EINTR)
			atomic_store(&t->interrupted, false);
		if (error != 0 && error != -ETIMEDOUT && error != -EINTR && error != -FLK_STUCK) {
			t->stage = IDLE;
			t->here_refused = true;
		}
		if (error == 0 && (error = go_to_store(t)) != 0)
			return error;
	}
	if (error == 0)
		error = await(t, is_out_of_line, flki_deadline_ns(deadline), mask, true);
	if (error == -FLK_CANCELLED)
		flk_leave(t);
	if (error != -EINTR)
		t->waited_for = error;
	return error != 0 ? error : outcome(t);
}

/* The keeper has the line: no other taker of this machine can keep us out of it. */
int
flki_queue(struct flk_taker *t, const struct flk_request *want, uint64_t until_ns)
{
	(void)until_ns;
	return flk_enqueue(t, want);
}

static void
ring(struct flk_taker *t)
{
	uint64_t one = 1;
	int saved = errno;
	ssize_t n;

	n = write(t->bell, &one, sizeof(one));
	(void)n; /* it rings already */
	errno = saved;
}

void
flk_cancel(struct flk_taker *t)
{
	atomic_store(&t->cancelled, true);
	if (t->here != NULL)
		here_cancel(t->here);
	ring(t);
}

void
flk_interrupt(struct flk_taker *t)
{
	atomic_store(&t->interrupted, true);
	if (t->here != NULL)
		here_interrupt(t->here);
	ring(t);
}
