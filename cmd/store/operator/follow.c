/* SPDX-License-Identifier: ISC */
/*
 * follow.c - waiting until all present takers are done, and following what happens.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
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
	return flki_boottime_ns() + flki_left(until, flki_monotonic_ns());
}

/* ---- events ---- */

size_t
store_history(struct flk *f, uint64_t number, struct flk_event *event, size_t room)
{
	struct session *d;

	return session_of(f, &d) == 0 ? session_events(d, number, event, room) : 0;
}

int
store_follow(struct flk *f, uint64_t number, const struct timespec *deadline)
{
	struct session *d;
	int error = session_of(f, &d);

	if (error == 0)
		error = session_follow(d);
	return error != 0 ? error : session_sleep(d, number, boot_ns(deadline), NULL);
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
strike_all(struct session *d, struct crew *c, uint64_t *number)
{
	struct flk_event e[64];
	size_t n, i;

	while ((n = session_events(d, *number, e, 64)) > 0) {
		for (i = 0; i < n; i++)
			strike(c, &e[i]);
		*number = e[n - 1].number;
	}
}

/*
 * Until the deadline; the first look has SESSION_PATIENCE, as it must find out whether the store is
 * there.
 */
static int
look(struct session *d, struct crew *c, uint64_t until_ns)
{
	struct fleet_question q = { .kind = ASK_LOOK };
	uint64_t left = flki_left(until_ns, flki_boottime_ns());
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
	if ((error = look(d, c, until_ns)) != 0 || c->left == 0 ||
	    (error = session_follow(d)) != 0 ||
	    (error = session_sleep(d, SESSION_NEVER, until_ns, t)) != 0)
		return error;
	number = session_newest(d);
	for (;;) {
		if (c->left == 0 || flki_boottime_ns() >= relook) {
			if ((error = look(d, c, until_ns)) != 0 || c->left == 0)
				return error;
			relook = flki_boottime_ns() + RELOOK;
		}
		error = session_sleep(d, number, flki_earlier(relook, until_ns), t);
		strike_all(d, c, &number);
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
