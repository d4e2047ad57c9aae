/*
 * taker.c - a taker's life, as in lib/taker.c; what it does is done by the keeper.
 */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/eventfd.h>
#include <sys/random.h>

#include "here.h"
#include "now.h"
#include "say.h"
#include "settings.h"
#include "tend.h"

#define NEVER    UINT64_MAX
#define BRIEFLY  (3 * SECOND / 10) /* a wait that is not one yet */
#define TRY_AWAY (2 * SECOND)      /* who will not wait does not give up for one lost packet */
#define TRY_MOST (15 * SECOND)
#define LET_GO   SECOND /* how long an end waits for the store to hear of it */

static _Thread_local char thread_mark;

bool
taker_is_strange(const struct flk_taker *t)
{
	return t->owner != &thread_mark || t->process != getpid();
}

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

/* ---- its beginning and its end ---- */

int
flk_taker_new(struct flk_taker **taker, struct flk *limiter)
{
	struct flk_taker *t = calloc(1, sizeof(*t));
	int error = -ENOMEM;

	if (t == NULL)
		return error;
	t->flk = limiter;
	t->owner = &thread_mark;
	t->process = getpid();
	t->tie = TIE_NONE;
	t->guard = t->guard_end = t->pidfd = -1;
	t->bell = talk_above_stdio(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
	if (t->bell == -1)
		error = -errno;
	else if (limiter->here != NULL && (t->here = here_taker_new(limiter->here)) == NULL)
		close(t->bell);
	else if ((error = link_tie(&t->tie, limiter->name)) != 0) {
		here_taker_free(t->here);
		close(t->bell);
	}
	if (error != 0 || t->tie.socket == -1) {
		free(t);
		return error;
	}
	LIST_INSERT_HEAD(&takers_here, t, entry);
	tend_tied(t);
	*taker = t;
	return 0;
}

void
flk_taker_free(struct flk_taker *t)
{
	if (t == NULL)
		return;
	if (!taker_is_strange(t)) {
		flk_leave(t);
		LIST_REMOVE(t, entry);
		link_untie(&t->tie);
		here_taker_free(t->here);
	}
	close(t->bell);
	free(t);
}

struct flk *
flk_limiter(const struct flk_taker *t)
{
	return t->flk;
}

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

static void
give_here_back(struct flk_taker *t)
{
	if (t->here != NULL)
		here_leave(t->here);
	t->here_held = false;
}

/* What came of it: 0 held, -EINPROGRESS, or why it is out of the line. */
static int
outcome(struct flk_taker *t)
{
	if (t->stage == HELD)
		return 0;
	if (t->stage != IDLE)
		return -EINPROGRESS;
	give_here_back(t);
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
		give_here_back(t);
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

static uint64_t
deadline_ns(const struct timespec *deadline)
{
	return deadline == NULL ? NEVER
				: (uint64_t)deadline->tv_sec * SECOND + (uint64_t)deadline->tv_nsec;
}

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
		error = await(t, is_out_of_line, deadline_ns(deadline), mask, true);
	if (error == -FLK_CANCELLED)
		flk_leave(t);
	if (error != -EINTR)
		t->waited_for = error;
	return error != 0 ? error : outcome(t);
}

int
flk_acquire(struct flk_taker *t, const struct flk_request *want, const struct timespec *deadline)
{
	int error = flk_enqueue(t, want);

	return error == -EINPROGRESS ? flk_wait(t, deadline, NULL) : error;
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

/* ---- the end of it ---- */

static bool
is_idle(const struct flk_taker *t)
{
	return t->stage == IDLE;
}

static bool
is_idle_or_lost(const struct flk_taker *t)
{
	return t->stage == IDLE || t->lost;
}

/* The keeper goes on by itself where the store does not hear. */
static int
let_go(struct flk_taker *t, enum stage stage)
{
	struct talk m = { .kind = stage == LEAVING ? TALK_LEAVE : TALK_RELEASE };
	/* A place that the store can't be told of is nobody's to wait for. */
	uint64_t patience = stage == LEAVING && t->away ? SECOND / 10 : LET_GO;
	int error;

	t->stage = stage;
	error = talk_send(t->tie.socket, &m, -1);
	if (error == 0 || error == -EPIPE)
		error = await(t, stage == LEAVING ? is_idle : is_idle_or_lost, now_ns() + patience,
			      NULL, false);
	if (error == -ETIMEDOUT && stage == RELEASING)
		say(t->flk->name,
		    "the permit could not be given back yet: %s; a process in the background tries "
		    "on, and else %s",
		    t->away ? flk_strerror(-FLK_STORE) : t->flk->where,
		    settings.manual ? "flocklimitctl break ends it" : "it ends by itself");
	/* Its socket ends with the answer outstanding: the keeper finishes, and a new wait begins anew. */
	if (t->stage != IDLE) {
		link_untie(&t->tie);
		if (link_tie(&t->tie, t->flk->name) == 0)
			tend_tied(t);
	}
	t->stage = IDLE;
	return error == -ETIMEDOUT ? 0 : error;
}

int
flk_leave(struct flk_taker *t)
{
	int error = 0;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage == ENTERING || t->stage == LINE)
		error = let_go(t, LEAVING);
	else if (t->stage == HELD)
		error = let_go(t, RELEASING);
	t->stage = IDLE;
	guard_drop(t);
	give_here_back(t);
	return error;
}

int
flk_release(struct flk_taker *t)
{
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage != HELD)
		return -FLK_NOPERMIT;
	if ((error = await_hear(t)) != 0)
		return error;
	if (t->lost)
		trouble(t->lost_text);
	error = flk_leave(t);
	return t->lost && !settings.warn ? -FLK_LOST : error;
}

int
flk_release_units(struct flk_taker *t, uint32_t units)
{
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage != HELD)
		return -FLK_NOPERMIT;
	if (units > t->permit.weight)
		return -FLK_OVERRELEASE;
	return units == t->permit.weight ? flk_release(t) : -ENOTSUP;
}

int
flk_forget(struct flk_taker *t)
{
	return taker_is_strange(t) ? -FLK_STRANGER : -ENOTSUP;
}

/* ---- looking ---- */

int
flk_permit(const struct flk_taker *t, struct flk_permit *permit)
{
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (t->stage != HELD)
		return -FLK_NOPERMIT;
	*permit = t->permit;
	return 0;
}

/* A store has no slots: its tickets are enough. */
uint32_t
flk_slot(const struct flk_taker *t)
{
	(void)t;
	return 0;
}

void
flk_evictor(const struct flk_taker *t, pid_t *pid, uid_t *uid)
{
	if (t->here_refused) {
		here_evictor(t->here, pid, uid);
		return;
	}
	*pid = t->evictor;
	*uid = t->evictor_uid;
}
