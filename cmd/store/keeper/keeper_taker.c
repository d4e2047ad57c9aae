/* SPDX-License-Identifier: ISC */
#include "keeper_taker.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

#include "clock.h"
#include "close_fd.h"
#include "detach.h"
#include "exiting.h"
#include "host/ledger.h"
#include "settings.h"
#include "stake.h"
#include "kind.h"

#define LONGEST_EXIT (10 * SECOND) /* a device may take long to close, or for ever */

/*
 * If the wrapper has the same open file description, epoll would go on watching it after our close.
 */
static void
drop_fd(int *fd)
{
	if (*fd != -1)
		source_unwatch(*fd);
	close_fd(fd);
}

/* The taker has a stake in every state but IDLE. */
void
keeper_taker_move(struct keeper_taker *k, enum permit_state state)
{
	state_check(&permit_rules[k->state], &permit_rules[state],
		    (state == PERMIT_IDLE) == (k->stake == NULL));
	k->state = state;
	if (k->stake != NULL && stake_row(k->stake) != NULL)
		stake_row(k->stake)->state = (uint8_t)state;
}

void
keeper_taker_rest(struct keeper_taker *k)
{
	k->gone = k->reported = k->unclaimed = false;
	k->exit_ns = EXPIRY_NEVER;
	free(k->away);
	k->away = NULL;
	drop_fd(&k->guard);
	drop_fd(&k->pidfd);
	close_fd(&k->local);
	if (k->stake != NULL)
		stake_part(k->stake);
	k->stake = NULL;
	keeper_taker_move(k, PERMIT_IDLE);
}

void
keeper_taker_end(struct keeper_taker *k)
{
	keeper_taker_say(k, k->state == PERMIT_LEAVING ? TALK_LEFT : TALK_RELEASED, 0, NULL);
	keeper_taker_rest(k);
}

void
keeper_taker_leave(struct keeper_taker *k)
{
	k->give_up_ns = flki_boottime_ns() + settings.ttl_s * SECOND;
	keeper_taker_move(k, PERMIT_LEAVING);
	fleet_leave(stake_taker(k->stake));
}

/* The fleet retries the release until the permit expires by itself. */
void
keeper_taker_release(struct keeper_taker *k)
{
	k->exit_ns = EXPIRY_NEVER;
	if (k->gone) {
		keeper_taker_end(k);
		return;
	}
	k->give_up_ns = expiry_deadline(&k->expiry);
	if (k->give_up_ns < flki_boottime_ns() + 2 * SECOND)
		k->give_up_ns = flki_boottime_ns() + 2 * SECOND;
	keeper_taker_move(k, PERMIT_RELEASING);
	fleet_release(stake_taker(k->stake));
}

/* ---- what the wrapper asks ---- */

/* NULL: no room, or there is no ledger. */
static struct ledger_row *
write_row(const struct keeper_taker *k, const struct talk *t)
{
	struct ledger_row row = { .state = PERMIT_ENTERING, .cell = k->cell, .want = t->want };

	if (t->kind == TALK_ADOPT && t->held)
		row.state = PERMIT_HELD;
	talk_copy(row.self, sizeof(row.self), k->self);
	talk_copy(row.limiter, sizeof(row.limiter), k->limiter->name);
	return ledger_add(&row);
}

void
keeper_taker_begin(struct keeper_taker *k, const struct talk *t, struct ledger_row *row)
{
	if (k->limiter->fleet == NULL) {
		keeper_taker_say(k, TALK_REFUSED, -FLK_STORE, k->limiter->why);
		return;
	}
	if (k->state != PERMIT_IDLE)
		return; /* our wrappers do not ask twice */
	talk_copy(k->self, sizeof(k->self), t->self);
	if (row == NULL)
		row = write_row(k, t);
	if (row != NULL || !ledger_is_kept())
		k->stake = stake_new(k, k->limiter->fleet, k->self, row);
	if (k->stake == NULL) {
		ledger_remove(row);
		keeper_taker_say(k, TALK_REFUSED, -FLK_STORE, "no memory for another taker");
		return;
	}
	keeper_taker_move(k, t->kind == TALK_ADOPT && t->held ? PERMIT_HELD : PERMIT_ENTERING);
	if (t->kind == TALK_ENTER) {
		fleet_enter(stake_taker(k->stake), &t->want);
		return;
	}
	fleet_adopt(stake_taker(k->stake), &t->want, t->held);
	keeper_supersede(k);
	keeper_taker_entrust(k);
	if (!t->held)
		return;
	/* Until the store answers, the permit is known to live as long as the last keeper knew. */
	k->reported = t->reported;
	expiry_begin(&k->expiry, settings.ttl_s, settings.grace_s, settings.warn,
		     atomic_load(&board_ns[k->cell]));
}

static void
keep_fd(int *to, int *fd)
{
	close_fd(to);
	*to = *fd;
	*fd = -1;
}

static void
obey(struct keeper_taker *k, const struct talk *t, int *fd)
{
	switch (t->kind) {
	case TALK_ENTER:
	case TALK_ADOPT:
		keeper_taker_begin(k, t, NULL);
		break;
	case TALK_LEAVE:
		if (permit_is_sought(k->state) || k->state == PERMIT_HELD)
			keeper_taker_leave(k);
		else if (k->state == PERMIT_IDLE)
			keeper_taker_say(k, TALK_LEFT, 0, NULL);
		break;
	case TALK_RELEASE:
		if (k->state == PERMIT_HELD) {
			fleet_ended(stake_taker(k->stake), t->code, t->memory, t->cpu_ns);
			keeper_taker_release(k);
		} else if (k->state == PERMIT_IDLE) {
			keeper_taker_say(k, TALK_RELEASED, 0, NULL);
		}
		break;
	case TALK_ENTRUST:
		k->wrapper = 0;
		/* fallthrough */
	case TALK_WORKING:
		k->pid = (pid_t)t->pid;
		keep_fd(&k->pidfd, fd);
		keeper_taker_entrust(k);
		break;
	case TALK_GUARD:
		keep_fd(&k->guard, fd);
		keeper_taker_entrust(k);
		break;
	case TALK_LOCAL:
		keep_fd(&k->local, fd);
		keeper_taker_entrust(k);
		break;
	case TALK_REPORTED:
		k->reported = k->state == PERMIT_HELD;
		break;
	case TALK_LOOK:
		keeper_taker_look(k, t);
		break;
	default:
		break;
	}
}

/* ---- the wrapper's end, and the command's ---- */

/*
 * A process that is killed closes its descriptors one after another.  After its guard is closed it
 * may still have a device, a listening socket or a file lock.  The next command must not start
 * before those are closed, too: see lib/exiting.c.  The pidfd is readable when the exit is over,
 * and keeper_taker_step() bounds the wait for it.
 */
static bool
awaits_exit(struct keeper_taker *k)
{
	if (k->pidfd == -1 || !flki_is_exiting(k->pid))
		return false;
	if (k->exit_ns != EXPIRY_NEVER)
		return true;
	if (source_watch(k->pidfd, EPOLLIN, &k->on_pidfd) != 0)
		return false;
	k->exit_ns = flki_boottime_ns() + LONGEST_EXIT;
	return true;
}

/* No process has the guard open any more: it hung up.  We ignore what is written there. */
static void
on_guard(struct source *source)
{
	struct keeper_taker *k = source->taker;

	if (k->guard != -1)
		source_unwatch(k->guard);
	if (k->state == PERMIT_HELD && !awaits_exit(k))
		keeper_taker_release(k);
}

/* The command is past its exit. */
static void
on_pidfd(struct source *source)
{
	struct keeper_taker *k = source->taker;

	source_unwatch(k->pidfd);
	if (k->state == PERMIT_HELD)
		keeper_taker_release(k);
}

void
keeper_taker_carry_on_alone(struct keeper_taker *k)
{
	drop_fd(&k->socket);
	k->wrapper = 0;
	switch (k->state) {
	case PERMIT_ENTERING:
	case PERMIT_WAITING:
		keeper_taker_leave(k);
		break;
	case PERMIT_HELD:
		if (k->guard != -1 && source_watch(k->guard, 0, &k->on_guard) == 0)
			break;
		if (k->pidfd != -1 && source_watch(k->pidfd, EPOLLIN, &k->on_pidfd) == 0)
			break;
		/* What the deputy had of it was lost: for others, it is like a machine that has died. */
		if (stake_row(k->stake) != NULL && stake_row(k->stake)->guarded)
			k->exit_ns = flki_boottime_ns() +
				     ((uint64_t)settings.ttl_s + settings.grace_s) * SECOND;
		else
			keeper_taker_release(k);
		break;
	default:
		break;
	}
}

/*
 * For example because we had no room for a descriptor that came.  Without it, a permit would end too early.
 * Another keeper may have room: we close the socket, and the wrapper finds us gone.
 */
void
keeper_taker_give_up(struct keeper_taker *k)
{
	drop_fd(&k->socket);
	if (k->stake != NULL)
		stake_give_up(k->stake);
	k->stake = NULL;
	keeper_taker_rest(k);
}

/* The same, where this keeper may be the one that the wrapper finds. */
static void
await_claim(struct keeper_taker *k)
{
	drop_fd(&k->socket);
	k->unclaimed = k->state != PERMIT_IDLE;
}

static void
on_socket(struct source *source)
{
	struct keeper_taker *k = source->taker;
	struct talk t;
	int error, fd;

	while (k->socket != -1 && (error = talk_receive(k->socket, &t, &fd)) != -EAGAIN) {
		if (error == 0)
			obey(k, &t, &fd);
		else if (error == -EMFILE && ledger_is_kept())
			await_claim(k);
		else if (error == -EMFILE)
			keeper_taker_give_up(k);
		else
			keeper_taker_carry_on_alone(k);
		close_fd(&fd);
	}
}

/* Without a wrapper: has the last process closed the guard, or, without a guard, has the command ended? */
static bool
is_deserted(const struct keeper_taker *k)
{
	struct pollfd fd = { .fd = k->guard != -1 ? k->guard : k->pidfd,
			     .events = k->guard != -1 ? 0 : POLLIN };

	return fd.fd != -1 && poll(&fd, 1, 0) == 1 && fd.revents != 0;
}

void
keeper_taker_catch_up(struct keeper_taker *k)
{
	if (k->socket != -1)
		on_socket(&k->on_socket);
	if (k->state == PERMIT_HELD && k->socket == -1 && !k->unclaimed && is_deserted(k))
		on_guard(&k->on_guard);
}

/* ---- its life ---- */

struct keeper_taker *
keeper_taker_new(struct keeper_limiter *l, int socket, uint32_t cell, pid_t wrapper)
{
	struct keeper_taker *k = calloc(1, sizeof(*k));

	if (k == NULL)
		return NULL;
	k->limiter = l;
	k->socket = socket;
	k->cell = cell;
	k->wrapper = wrapper;
	k->guard = k->pidfd = k->local = -1;
	k->exit_ns = EXPIRY_NEVER;
	TAILQ_INIT(&k->owed);
	k->on_socket = (struct source){ on_socket, k };
	k->on_guard = (struct source){ on_guard, k };
	k->on_pidfd = (struct source){ on_pidfd, k };
	if (socket == -1 || source_watch(socket, EPOLLIN, &k->on_socket) == 0)
		return k;
	free(k);
	return NULL;
}

bool
keeper_taker_is_over(const struct keeper_taker *k)
{
	return k->socket == -1 && k->state == PERMIT_IDLE;
}

void
keeper_taker_free(struct keeper_taker *k)
{
	struct ask *a;

	while ((a = LIST_FIRST(&k->asks)) != NULL) {
		LIST_REMOVE(a, entry);
		a->taker = NULL;
	}
	keeper_taker_rest(k); /* closes what came before a permit */
	free(k);
}
