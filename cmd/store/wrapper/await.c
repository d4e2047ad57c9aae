/* SPDX-License-Identifier: ISC */
/*
 * await.c - what the keeper says to a taker, how a taker waits for it, and what a new keeper is
 * sent.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "close_fd.h"
#include "now.h"
#include "say.h"
#include "settings.h"

#define REPORT_AFTER (2 * SECOND) /* how long the store is out of reach before we report it */

_Thread_local struct taker_list takers_of_thread;

static const sigset_t *open_mask;
static _Thread_local bool by_signal;

/* ---- how a taker is woken ---- */

void
await_mask(const sigset_t *mask)
{
	open_mask = mask;
}

void
await_tied(const struct store_taker *t)
{
	if (!by_signal)
		return;
	fcntl(t->tie.socket, F_SETOWN, getpid());
	fcntl(t->tie.socket, F_SETSIG, AWAIT_SIGNAL);
	fcntl(t->tie.socket, F_SETFL, O_NONBLOCK | O_ASYNC);
}

/* No signal comes for what came before: the first look sees it. */
void
await_by_signal(void)
{
	const struct store_taker *t;

	by_signal = true;
	LIST_FOREACH(t, &takers_of_thread, entry)
		await_tied(t);
}

/* ---- messages from the keeper ---- */

static void
hear_grant(struct store_taker *t, const struct talk *m)
{
	t->permit = taker_permit(m);
	talk_copy(t->key, sizeof(t->key), m->key);
	/* A holder keeps its state: another keeper repeats the grant, and a release under way continues. */
	if (permit_is_sought(t->state))
		wrapper_move(t, PERMIT_HELD);
}

/*
 * A keeper died before the store knew of the taker, or so long ago that the store has forgotten the
 * taker: it enters anew, by another name.
 */
static bool
was_never_there(const struct store_taker *t, const struct talk *m)
{
	return permit_is_sought(t->state) && m->code == -FLK_NOPERMIT;
}

static void
hear_refusal(struct store_taker *t, const struct talk *m)
{
	struct talk anew = { .kind = TALK_ENTER, .want = t->want };

	/*
	 * It crossed our TALK_LEAVE, to which TALK_LEFT is the answer.  If this ended the leaving, that
	 * would be taken for an answer to what the taker asks next.
	 */
	if (t->state == PERMIT_LEAVING)
		return;
	if (was_never_there(t, m)) {
		if (t->state == PERMIT_WAITING && !settings.quiet)
			say(limiter_of(t)->name, "lost its place in the line, and queues again");
		taker_name(t->self);
		wrapper_move(t, PERMIT_ENTERING);
		talk_copy(anew.self, sizeof(anew.self), t->self);
		talk_send(t->tie.socket, &anew, -1);
		return;
	}
	t->evictor = (pid_t)m->pid;
	t->evictor_uid = (uid_t)m->uid;
	talk_copy(t->evictor_host, sizeof(t->evictor_host), m->host);
	t->code = m->code;
	if (m->text[0] != '\0')
		store_trouble(m->text);
	wrapper_move(t, PERMIT_IDLE);
}

static void
hear(struct store_taker *t, const struct talk *m)
{
	switch (m->kind) {
	case TALK_QUEUED:
		t->permit.ticket = m->ticket;
		if (t->state == PERMIT_ENTERING)
			wrapper_move(t, PERMIT_WAITING);
		break;
	case TALK_GRANTED:
		hear_grant(t, m);
		break;
	case TALK_REFUSED:
		hear_refusal(t, m);
		break;
	case TALK_LOST:
		if (!t->lost)
			t->lost_ns = now_ns();
		t->lost = true;
		talk_copy(t->lost_text, sizeof(t->lost_text), m->text);
		break;
	case TALK_LEFT:
	case TALK_RELEASED:
		wrapper_move(t, PERMIT_IDLE);
		t->code = 0;
		break;
	case TALK_AWAY:
		if (!t->away)
			t->away_ns = now_ns();
		t->away = true;
		store_trouble(m->text);
		break;
	case TALK_BACK:
		if (t->away_reported)
			say(limiter_of(t)->name, "%s can be reached again", limiter_of(t)->where);
		t->away = t->away_reported = false;
		break;
	case TALK_SAY:
		if (m->code == 0 || !settings.quiet)
			say(limiter_of(t)->name, "%s", m->text);
		break;
	case TALK_LOOKED:
		if (m->ask == t->asked) {
			t->answered = true;
			t->answer = *m;
		}
		break;
	default:
		break;
	}
}

/* ---- a new keeper ---- */

/*
 * Sends the descriptors first, so that the keeper has them when it takes the permit over.  The
 * keeper may find at once that the permit is lost, or, if the wrapper is killed in here, that
 * nothing runs under it.
 */
static int
hand_over_all(const struct store_taker *t)
{
	struct talk m = { .kind = TALK_GUARD };
	int error = 0, fd;

	if (t->guard.end != -1)
		error = talk_send(t->tie.socket, &m, t->guard.end);
	m.kind = TALK_WORKING;
	m.pid = (uint32_t)t->working;
	if (error == 0 && t->pidfd != -1)
		error = talk_send(t->tie.socket, &m, t->pidfd);
	m.kind = TALK_LOCAL;
	if (error == 0 && t->local_held && (fd = taker_local_guard(t)) >= 0)
		error = talk_send(t->tie.socket, &m, fd);
	m = (struct talk){ .kind = TALK_ADOPT, .want = t->want };
	m.held = t->state == PERMIT_HELD || t->state == PERMIT_RELEASING;
	m.reported = t->lost && !settings.warn;
	talk_copy(m.self, sizeof(m.self), t->self);
	if (error == 0 && t->state != PERMIT_IDLE && t->state != PERMIT_LOCAL)
		error = talk_send(t->tie.socket, &m, -1);
	m.kind = t->state == PERMIT_RELEASING ? TALK_RELEASE : TALK_LEAVE;
	m.code = t->status;
	m.memory = t->memory;
	m.cpu_ns = t->cpu_ns;
	if (error == 0 && (t->state == PERMIT_RELEASING || t->state == PERMIT_LEAVING))
		error = talk_send(t->tie.socket, &m, -1);
	if (error == 0 && t->asked != 0 && !t->answered)
		error = talk_send(t->tie.socket, &t->question, -1);
	return error;
}

static int
go_on_with_another(struct store_taker *t)
{
	int error;

	do {
		error = link_tie(&t->tie, limiter_of(t)->name);
		if (error == 0) {
			await_tied(t);
			error = hand_over_all(t);
		}
	} while (error == -EPIPE);
	if (error == -ECHILD)
		return store_trouble(
		    "its keeper ends as soon as it starts: are memory and descriptors (ulimit "
		    "-n) left?");
	return error;
}

int
await_send(struct store_taker *t, const struct talk *m, int fd)
{
	int error = talk_send(t->tie.socket, m, fd);

	return error == -EPIPE ? go_on_with_another(t) : error;
}

int
await_hear(struct store_taker *t)
{
	struct talk m;
	int fd, error;

	for (;;) {
		error = talk_receive(t->tie.socket, &m, &fd);
		close_fd(&fd); /* no keeper sends us any */
		if (error == 0)
			hear(t, &m);
		else if (error != -EPIPE)
			return error == -EAGAIN ? 0 : error;
		else if ((error = go_on_with_another(t)) != 0)
			return error;
	}
}

/* ---- waiting ---- */

/* When to look again; reports to people, once, that the store has been away for a while. */
static uint64_t
next_stop(struct store_taker *t, uint64_t deadline)
{
	uint64_t report_ns = t->away_ns + REPORT_AFTER;

	if (!t->away || t->away_reported || settings.quiet || !permit_is_sought(t->state))
		return deadline;
	if (now_ns() < report_ns)
		return earlier(report_ns, deadline);
	t->away_reported = true;
	say(limiter_of(t)->name, "%s; retrying", store_strerror(-FLK_STORE));
	return deadline;
}

static void
sleep_until(struct store_taker *t, uint64_t until, const sigset_t *mask, bool rings)
{
	struct pollfd fds[2] = { { .fd = t->tie.socket, .events = POLLIN },
				 { .fd = rings ? t->bell : -1, .events = POLLIN } };
	struct timespec span;

	until = earlier(until, host_look());
	span = flki_timespec(left_until(until, now_ns()));
	ppoll(fds, 2, until == NEVER ? NULL : &span, mask);
}

int
await_bell(struct store_taker *t)
{
	int why = atomic_exchange(&t->cancelled, false)     ? -FLK_CANCELLED
		  : atomic_exchange(&t->interrupted, false) ? -EINTR
							    : 0;
	uint64_t count;
	ssize_t n;

	if (why == 0)
		return 0;
	n = read(t->bell, &count, sizeof(count));
	(void)n; /* if it rings at this moment, there is one wake for nothing */
	return why;
}

int
await(struct store_taker *t, bool (*done)(const struct store_taker *t), uint64_t deadline,
      const sigset_t *mask, bool rings)
{
	int error;

	if (mask == NULL)
		mask = open_mask;
	for (;;) {
		if ((error = await_hear(t)) != 0)
			return error;
		if (done(t))
			return 0;
		if (rings && (error = await_bell(t)) != 0)
			return error;
		if (now_ns() >= deadline)
			return -ETIMEDOUT;
		sleep_until(t, next_stop(t, deadline), mask, rings);
	}
}
