#include "seat.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

#include "detach.h"
#include "elsewhere.h"
#include "exiting.h"
#include "link.h"
#include "settings.h"

#define SECOND       UINT64_C(1000000000)
#define LONGEST_EXIT (10 * SECOND) /* a device may take long to close, or for ever */

static void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* A description that the wrapper has, too, would go on to be watched when we have closed it. */
static void
drop_fd(int *fd)
{
	if (*fd != -1)
		keeper_unwatch(*fd);
	close_fd(fd);
}

void
seat_rest(struct seat *s)
{
	s->stage = AT_REST;
	s->gone = s->told = false;
	s->exit_ns = WARD_NEVER;
	s->away[0] = '\0';
	drop_fd(&s->guard);
	drop_fd(&s->pidfd);
	close_fd(&s->here);
	if (s->taker == NULL)
		return;
	s->ear->seat = NULL;
	keeper_retire(s->branch, s->taker, s->ear);
	s->taker = NULL;
	s->ear = NULL;
}

static void
leave(struct seat *s)
{
	s->stage = LEAVING;
	s->give_up_ns = keeper_now() + settings.ttl_s * SECOND;
	engine_leave(s->taker);
}

/* Tried on until the permit ends by itself. */
void
seat_release(struct seat *s)
{
	s->exit_ns = WARD_NEVER;
	if (s->gone) {
		seat_tell_kind(s, TALK_RELEASED);
		seat_rest(s);
		return;
	}
	s->stage = RELEASING;
	s->give_up_ns = ward_deadline(&s->ward);
	if (s->give_up_ns < keeper_now() + 2 * SECOND)
		s->give_up_ns = keeper_now() + 2 * SECOND;
	engine_release(s->taker);
}

/* ---- what the wrapper asks ---- */

static void
refuse(struct seat *s, const char *why)
{
	struct talk t = { .kind = TALK_REFUSED, .code = -FLK_STORE };

	talk_copy(t.text, sizeof(t.text), why);
	seat_tell(s, &t);
}

static void
begin(struct seat *s, const struct talk *t)
{
	if (s->branch->engine == NULL) {
		refuse(s, s->branch->why);
		return;
	}
	if (s->stage != AT_REST)
		return; /* a wrapper of ours does not ask twice */
	talk_copy(s->self, sizeof(s->self), t->self);
	s->ear = malloc(sizeof(*s->ear));
	if (s->ear == NULL ||
	    engine_taker_new(&s->taker, s->branch->engine, s->self, seat_hear, s->ear) != 0) {
		free(s->ear);
		s->ear = NULL;
		s->taker = NULL;
		refuse(s, "no memory for another taker");
		return;
	}
	s->ear->seat = s;
	s->stage = ASKED;
	if (t->kind == TALK_ENTER) {
		engine_enter(s->taker, &t->want);
		return;
	}
	engine_adopt(s->taker, &t->want, t->held);
	if (!t->held)
		return;
	/* What the last keeper knew of its life is what is known until the store answers. */
	s->stage = HOLDS;
	ward_begin(&s->ward, settings.ttl_s, settings.grace_s, settings.warn,
		   atomic_load(&board_ns[s->place]));
}

static void
answer(void *context, const struct engine_answer *a)
{
	struct ask *ask = context;
	struct talk t = { .kind = TALK_LOOKED, .ask = ask->number, .code = a->code };
	size_t i;

	if (ask->seat == NULL) {
		free(ask);
		return;
	}
	talk_copy(t.text, sizeof(t.text), a->text);
	if (a->code == 0 && a->view != NULL) {
		seat_stand(a->view, ask->seat->self, &t);
		for (i = 0; ask->ticket != 0 && i < a->view->holders; i++)
			if (a->view->entry[i].ticket == ask->ticket) {
				t.held = true;
				t.weight = a->view->entry[i].weight;
				t.limit = a->view->entry[i].limit;
				t.seat = a->view->entry[i].seat;
			}
	}
	seat_tell(ask->seat, &t);
	LIST_REMOVE(ask, entry);
	free(ask);
}

static void
look(struct seat *s, const struct talk *t)
{
	struct engine_question q = { .kind = ASK_LOOK };
	struct talk no = { .kind = TALK_LOOKED, .ask = t->ask, .code = -FLK_STORE };
	struct ask *a = s->branch->engine != NULL ? malloc(sizeof(*a)) : NULL;

	if (a == NULL) {
		talk_copy(no.text, sizeof(no.text), s->branch->why);
		seat_tell(s, &no);
		return;
	}
	*a = (struct ask){ .seat = s, .number = t->ask, .ticket = t->ticket };
	LIST_INSERT_HEAD(&s->asks, a, entry);
	engine_ask(s->branch->engine, &q, t->patience_ns, answer, a);
}

static void
keep_fd(int *to, int *fd)
{
	close_fd(to);
	*to = *fd;
	*fd = -1;
}

static void
obey(struct seat *s, const struct talk *t, int *fd)
{
	switch (t->kind) {
	case TALK_ENTER:
	case TALK_ADOPT:
		begin(s, t);
		break;
	case TALK_LEAVE:
		if (s->stage == ASKED || s->stage == HOLDS)
			leave(s);
		else if (s->stage == AT_REST)
			seat_tell_kind(s, TALK_LEFT);
		break;
	case TALK_RELEASE:
		if (s->stage == HOLDS)
			seat_release(s);
		else if (s->stage == AT_REST)
			seat_tell_kind(s, TALK_RELEASED);
		break;
	case TALK_ENTRUST:
		s->wrapper = 0;
		/* fallthrough */
	case TALK_WORKING:
		s->pid = (pid_t)t->pid;
		keep_fd(&s->pidfd, fd);
		if (s->stage == HOLDS && !s->gone)
			engine_working(s->taker, s->pid);
		break;
	case TALK_GUARD:
		keep_fd(&s->guard, fd);
		break;
	case TALK_HERE:
		keep_fd(&s->here, fd);
		break;
	case TALK_TOLD:
		s->told = s->stage == HOLDS;
		break;
	case TALK_LOOK:
		look(s, t);
		break;
	default:
		break;
	}
}

/* ---- the wrapper's end, and the command's ---- */

/*
 * A process that is killed closes its descriptors one after another.  After its guard is closed it
 * may still have a device, a listening socket or a file lock.  The next command must not start before
 * those are closed, too: see lib/exiting.c.  The pidfd is readable when the exit is over, and
 * seat_step() bounds the wait for it.
 */
static bool
awaits_exit(struct seat *s)
{
	if (s->pidfd == -1 || !flki_is_exiting(s->pid))
		return false;
	if (s->exit_ns != WARD_NEVER)
		return true;
	if (keeper_watch(s->pidfd, EPOLLIN, &s->on_pidfd) != 0)
		return false;
	s->exit_ns = keeper_now() + LONGEST_EXIT;
	return true;
}

/* No process has the guard open any more: a hangup, for what is written there is nothing to us. */
static void
on_guard(struct source *source)
{
	struct seat *s = source->seat;

	if (s->guard != -1)
		keeper_unwatch(s->guard);
	if (s->stage == HOLDS && !awaits_exit(s))
		seat_release(s);
}

/* The command is past its exit. */
static void
on_pidfd(struct source *source)
{
	struct seat *s = source->seat;

	keeper_unwatch(s->pidfd);
	if (s->stage == HOLDS)
		seat_release(s);
}

static void
carry_on_alone(struct seat *s)
{
	keeper_unwatch(s->socket);
	close_fd(&s->socket);
	seat_owe_nothing(s);
	s->wrapper = 0;
	switch (s->stage) {
	case ASKED:
		leave(s);
		break;
	case HOLDS:
		if (s->guard != -1 && keeper_watch(s->guard, 0, &s->on_guard) == 0)
			break;
		if (s->pidfd != -1 && keeper_watch(s->pidfd, EPOLLIN, &s->on_pidfd) == 0)
			break;
		seat_release(s);
		break;
	default:
		break;
	}
}

/*
 * Without a descriptor that we have no room for, a permit would end too early.  Another keeper may have
 * room: the wrapper finds us gone, and the store is told nothing.
 */
static void
give_up(struct seat *s)
{
	keeper_unwatch(s->socket);
	close_fd(&s->socket);
	seat_owe_nothing(s);
	if (s->taker != NULL) {
		engine_taker_free(s->taker);
		free(s->ear);
		s->taker = NULL;
		s->ear = NULL;
	}
	seat_rest(s);
}

static void
on_socket(struct source *source)
{
	struct seat *s = source->seat;
	struct talk t;
	int error, fd;

	while (s->socket != -1 && (error = talk_receive(s->socket, &t, &fd)) != -EAGAIN) {
		if (error == 0)
			obey(s, &t, &fd);
		else if (error == -EMFILE)
			give_up(s);
		else
			carry_on_alone(s);
		close_fd(&fd);
	}
}

/* Without a wrapper: is nobody left who has the guard open, or is the command gone? */
static bool
is_deserted(const struct seat *s)
{
	struct pollfd fd = { .fd = s->guard != -1 ? s->guard : s->pidfd,
			     .events = s->guard != -1 ? 0 : POLLIN };

	return fd.fd != -1 && poll(&fd, 1, 0) == 1 && fd.revents != 0;
}

void
seat_catch_up(struct seat *s)
{
	if (s->socket != -1)
		on_socket(&s->on_socket);
	if (s->stage == HOLDS && s->socket == -1 && is_deserted(s))
		on_guard(&s->on_guard);
}

/* ---- its life ---- */

struct seat *
seat_new(struct branch *b, int socket, uint32_t place, pid_t wrapper)
{
	struct seat *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->branch = b;
	s->socket = socket;
	s->place = place;
	s->wrapper = wrapper;
	s->guard = s->pidfd = s->here = -1;
	s->exit_ns = WARD_NEVER;
	TAILQ_INIT(&s->owed);
	s->on_socket = (struct source){ on_socket, s };
	s->on_guard = (struct source){ on_guard, s };
	s->on_pidfd = (struct source){ on_pidfd, s };
	if (keeper_watch(socket, EPOLLIN, &s->on_socket) == 0)
		return s;
	free(s);
	return NULL;
}

bool
seat_is_over(const struct seat *s)
{
	return s->socket == -1 && s->stage == AT_REST;
}

void
seat_free(struct seat *s)
{
	struct ask *a;

	while ((a = LIST_FIRST(&s->asks)) != NULL) {
		LIST_REMOVE(a, entry);
		a->seat = NULL;
	}
	drop_fd(&s->guard);
	drop_fd(&s->pidfd);
	close_fd(&s->here);
	free(s);
}
