/* SPDX-License-Identifier: ISC */
/*
 * follow.c - following what happens in a limiter of a store, and waiting until all present takers are
 * done.  A session that follows keeps the last FLK_HISTORY events here: those that the store remembers, and
 * those that come.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "now.h"
#include "machine.h"
#include "session.h"
#include "wrapper/internal.h"

#define RELOOK UINT64_C(30000000000) /* ns: look again, whatever the store has reported */

/* A deadline by CLOCK_MONOTONIC, by CLOCK_BOOTTIME. */
static uint64_t
boot_ns(const struct timespec *deadline)
{
	uint64_t until = flki_deadline_ns(deadline);

	if (until == UINT64_MAX)
		return SESSION_NEVER;
	return flki_boottime_ns() + left_until(until, flki_monotonic_ns());
}

/* ---- events ---- */

struct past_event {
	struct flk_event event;
	const char *host; /* from machine_of() */
};

/* The n-th, from 1, is at index n % FLK_HISTORY, if it is among the last FLK_HISTORY.  Its number is not n. */
struct news {
	uint64_t n;
	uint64_t newest; /* the number of the last one; 0: none */
	bool begun;      /* we miss nothing from here on */
	int ended;       /* why there will be no more events; 0: there may be */
	struct past_event event[FLK_HISTORY];
};

/* As in fleet.h: kind 0 is about the follower itself. */
static void
happens(void *context, const struct flk_event *event, const char *host)
{
	struct news *n = context;
	struct past_event *t;

	n->newest = event->number;
	if (event->kind == 0 && event->code == 0) {
		n->begun = true;
		return;
	}
	if (event->kind == 0) {
		n->ended = event->code;
		if (host != NULL)
			store_trouble(host);
		return;
	}
	t = &n->event[++n->n % FLK_HISTORY];
	t->event = *event;
	t->host = machine_of(host != NULL ? host : "");
}

/* A second call does nothing.  0, or why it can't. */
static int
follow(struct session *d)
{
	if (d->news != NULL)
		return 0;
	d->news = calloc(1, sizeof(*d->news));
	if (d->news == NULL)
		return -ENOMEM;
	fleet_follow(d->fleet, happens, d->news);
	return 0;
}

static const struct past_event *
at(const struct news *n, uint64_t i)
{
	return &n->event[i % FLK_HISTORY];
}

/* The first that is still here and has a higher number; n + 1: there is none. */
static uint64_t
first_after(const struct news *n, uint64_t number)
{
	uint64_t from = n->n > FLK_HISTORY ? n->n - FLK_HISTORY + 1 : 1, to = n->n + 1, middle;

	while (from < to) {
		middle = from + (to - from) / 2;
		if (at(n, middle)->event.number > number)
			to = middle;
		else
			from = middle + 1;
	}
	return from;
}

const char *
session_happened(struct flk *f, const struct flk_event *e)
{
	const struct news *n;
	struct session *d;
	uint64_t i;

	if (session_of(f, &d) != 0 || (n = d->news) == NULL)
		return NULL;
	i = first_after(n, e->number - 1);
	return i <= n->n && at(n, i)->event.number == e->number ? at(n, i)->host : NULL;
}

/*
 * Sleeps until there is an event after NUMBER or, if NUMBER is SESSION_NEVER, until we miss no
 * event from now on.  until_ns: CLOCK_BOOTTIME. 0, -ETIMEDOUT, -EINTR, -FLK_GONE, -FLK_STORE.  For a
 * taker that sleeps (else NULL), flk_cancel() and flk_interrupt() end the sleep, and a signal does
 * not.
 */
static int
sleep_after(struct session *d, uint64_t number, uint64_t until_ns, struct store_taker *t)
{
	const struct news *n = d->news;
	int error = 0;

	for (;;) {
		if (number == SESSION_NEVER ? n->begun : n->newest > number)
			return 0;
		if (n->ended != 0)
			return n->ended;
		if (error != 0 || (t != NULL && (error = await_bell(t)) != 0))
			return error;
		if (flki_boottime_ns() >= until_ns)
			return -ETIMEDOUT;
		error = session_drive(d, until_ns, t != NULL ? t->bell : -1);
		if (t != NULL && error == -EINTR)
			error = 0; /* a signal handler ends no wait of a taker */
	}
}

/* The first time, it waits for what the store remembers. */
size_t
store_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	uint64_t until_ns = flki_boottime_ns() + SESSION_PATIENCE, i;
	struct session *d;
	size_t copied = 0;

	if (session_of(f, &d) != 0 || follow(d) != 0)
		return 0;
	while (sleep_after(d, SESSION_NEVER, until_ns, NULL) == -EINTR)
		;
	for (i = first_after(d->news, number); i <= d->news->n && copied < room; i++)
		event[copied++] = at(d->news, i)->event;
	return copied;
}

int
store_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	struct session *d;
	int error = session_of(f, &d);

	if (error == 0)
		error = follow(d);
	return error != 0 ? error : sleep_after(d, number, boot_ns(deadline), NULL);
}

/* ---- until it is idle ---- */

/* The takers that the operator waits for: events find them by ticket, a new look finds them by name. */
struct one {
	char self[STORE_SELF];
	uint64_t ticket; /* 0: it is done */
};

struct crew {
	struct one *one; /* NULL: yet to be filled */
	size_t n, left;
};

static int
fill(struct crew *c, const struct view *v)
{
	size_t i;

	c->n = c->left = v->holders + v->waiters;
	c->one = calloc(c->n + 1, sizeof(*c->one));
	if (c->one == NULL)
		return -ENOMEM;
	for (i = 0; i < c->n; i++) {
		memcpy(c->one[i].self, v->entry[i].self, STORE_SELF);
		c->one[i].ticket = v->entry[i].ticket;
	}
	return 0;
}

/* A taker that lost its place and stands in the line again must still finish. */
static void
recount(struct crew *c, const struct view *v)
{
	size_t i, k;

	c->left = 0;
	for (i = 0; i < c->n; i++) {
		c->one[i].ticket = 0;
		for (k = 0; k < v->holders + v->waiters && c->one[i].ticket == 0; k++)
			if (strcmp(v->entry[k].self, c->one[i].self) == 0)
				c->one[i].ticket = v->entry[k].ticket;
		c->left += c->one[i].ticket != 0;
	}
}

static int
take(void *context, const struct fleet_answer *a)
{
	struct crew *c = context;

	if (c->one == NULL)
		return a->view->there ? fill(c, a->view) : -ENOENT;
	recount(c, a->view);
	return 0;
}

static void
strike(struct crew *c, const struct flk_event *e)
{
	size_t i;

	if (e->kind != FLK_EV_RELEASED && e->kind != FLK_EV_REAPED && e->kind != FLK_EV_LEFT &&
	    e->kind != FLK_EV_EVICTED)
		return;
	for (i = 0; i < c->n; i++) {
		if (c->one[i].ticket == 0 || c->one[i].ticket != e->ticket)
			continue;
		c->one[i].ticket = 0;
		c->left--;
	}
}

/* Reads what happened after *number. */
static void
strike_all(const struct news *n, struct crew *c, uint64_t *number)
{
	uint64_t i;

	for (i = first_after(n, *number); i <= n->n; i++)
		strike(c, &at(n, i)->event);
	*number = n->newest;
}

/*
 * Until the deadline; the first look has SESSION_PATIENCE, as it must find out whether the store is
 * there.
 */
static int
look(struct session *d, struct crew *c, uint64_t until_ns)
{
	struct fleet_question q = { .kind = ASK_LOOK };
	uint64_t left = left_until(until_ns, flki_boottime_ns());
	int error;

	error = session_ask(
	    d, &q, left < SESSION_PATIENCE && c->one != NULL ? left : SESSION_PATIENCE, take, c);
	/* While the store is away, we know of no taker that it is done. */
	if (error == -FLK_STORE && c->one != NULL)
		error = left < SESSION_PATIENCE ? -ETIMEDOUT : 0;
	return error;
}

static int
wait_idle(struct session *d, struct crew *c, uint64_t until_ns, struct store_taker *t)
{
	uint64_t number, relook = 0;
	int error;

	/* First: does the limiter exist, and can we read it?  Then follow: from there on we miss no end. */
	if ((error = look(d, c, until_ns)) != 0 || c->left == 0 || (error = follow(d)) != 0 ||
	    (error = sleep_after(d, SESSION_NEVER, until_ns, t)) != 0)
		return error;
	number = d->news->newest;
	for (;;) {
		if (c->left == 0 || flki_boottime_ns() >= relook) {
			if ((error = look(d, c, until_ns)) != 0 || c->left == 0)
				return error;
			relook = flki_boottime_ns() + RELOOK;
		}
		error = sleep_after(d, number, earlier(relook, until_ns), t);
		strike_all(d->news, c, &number);
		if (error != 0 && (error != -ETIMEDOUT || flki_boottime_ns() >= until_ns))
			return error == -FLK_GONE ? 0 : error;
	}
}

int
store_wait_idle(struct flk_taker *taker, const struct timespec *deadline)
{
	struct store_taker *t = taker_of(taker);
	struct crew c = { .one = NULL };
	struct session *d;
	int error;

	if (taker_is_strange(t))
		return -FLK_STRANGER;
	/* A taker that waits or holds would wait for itself. */
	if (t->state != PERMIT_IDLE)
		return -FLK_BUSY;
	error = session_of(t->flk, &d);
	if (error == 0)
		error = wait_idle(d, &c, boot_ns(deadline), t);
	free(c.one);
	return error;
}
