/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>

#include "clock.h"
#include "close_fd.h"
#include "detach.h"
#include "keeper_taker.h"
#include "now.h"
#include "settings.h"
#include "stake.h"
#include "title.h"
#include "kind.h"

static struct {
	int control;               /* -1: the wrapper is gone */
	pid_t wrapper;             /* its pid */
	const char *life;          /* our name in the store, */
	bool heir;                 /* which the keeper before had, too */
	bool silent;               /* stderr is closed: the keeper reports nothing any more */
	struct fleet_store *store; /* NULL: it is not open yet, or can't be opened: */
	char why[FLEET_TEXT];      /* why */
	struct source on_control, on_store;
	LIST_HEAD(all_takers, keeper_taker) takers;
	SLIST_HEAD(all_limiters, keeper_limiter) limiters;
} k;

/* ---- the store, and its limiters ---- */

static void
on_store(struct source *s)
{
	(void)s;
	fleet_store_step(k.store);
}

/* False: it can't be opened, k.why says why; the next new taker tries again. */
static bool
open_store(void)
{
	struct fleet_options o = { .url = &settings.url,
				   .life = k.life,
				   .heir = k.heir,
				   .ttl_s = settings.ttl_s,
				   .grace_s = settings.grace_s,
				   .manual = settings.manual };

	if (k.store == NULL && fleet_store_open(&k.store, &o, k.why) == 0)
		source_watch(fleet_store_fd(k.store), EPOLLIN, &k.on_store);
	return k.store != NULL;
}

static uint64_t
store_due(void)
{
	return k.store != NULL ? fleet_store_due(k.store) : NEVER;
}

static void
step_store(uint64_t now)
{
	if (store_due() <= now)
		fleet_store_step(k.store);
}

static struct keeper_limiter *
find_limiter(const char *limiter)
{
	struct keeper_limiter *l;

	SLIST_FOREACH(l, &k.limiters, entry)
		if (strcmp(l->name, limiter) == 0)
			return l;
	l = calloc(1, sizeof(*l));
	if (l == NULL)
		return NULL;
	talk_copy(l->name, sizeof(l->name), limiter);
	title_set(l->name);
	l->why = k.why;
	SLIST_INSERT_HEAD(&k.limiters, l, entry);
	return l;
}

/* ---- the control socket ---- */

static void
take_in(const struct talk *t, int *fd)
{
	struct keeper_limiter *l = *fd != -1 ? find_limiter(t->limiter) : NULL;
	struct keeper_taker *s = l != NULL ? keeper_taker_new(l, *fd, t->cell, k.wrapper) : NULL;

	if (s == NULL)
		return;
	if (l->fleet == NULL && open_store())
		l->fleet = fleet_open(k.store, l->name);
	*fd = -1;
	LIST_INSERT_HEAD(&k.takers, s, entry);
}

static void
on_control(struct source *s)
{
	struct talk t;
	int error, fd;

	(void)s;
	while (k.control != -1 && (error = talk_receive(k.control, &t, &fd)) != -EAGAIN) {
		if (error == -EMFILE)
			continue; /* its taker finds the socket closed, and gets another keeper */
		if (error != 0) {
			source_unwatch(k.control);
			close_fd(&k.control);
		} else if (t.kind == TALK_NEW) {
			take_in(&t, &fd);
		} else if (t.kind == TALK_HUSH) {
			detach_stderr();
		}
		close_fd(&fd);
	}
}

/* ---- the loop ---- */

static uint64_t
step_takers(uint64_t now)
{
	uint64_t next = NEVER;
	struct keeper_taker *s, *after;
	bool held = false;

	for (s = LIST_FIRST(&k.takers); s != NULL; s = after) {
		after = LIST_NEXT(s, entry);
		next = earlier(next, keeper_taker_step(s, now));
		held |= s->state == PERMIT_HELD;
		if (keeper_taker_is_over(s)) {
			LIST_REMOVE(s, entry);
			keeper_taker_free(s);
		}
	}
	/* A program that reads the wrapper's stderr sees it end with the command, not with the keeper. */
	if (k.control == -1 && !held && !k.silent) {
		detach_stderr();
		k.silent = true;
	}
	return next;
}

_Noreturn void
keeper_run(int control, pid_t wrapper, const char *life, bool heir, bool quiet)
{
	uint64_t now, next;

	title_set(NULL);
	k.wrapper = wrapper;
	k.life = life;
	k.heir = heir;
	k.control = detach(control, quiet);
	k.on_control.ready = on_control;
	k.on_store.ready = on_store;
	if (k.control == -1 || !sources_open() ||
	    source_watch(k.control, EPOLLIN, &k.on_control) != 0)
		_exit(1);
	for (;;) {
		now = flki_boottime_ns();
		step_store(now);
		next = step_takers(now);
		next = earlier(next, stakes_step(now, store_due() == NEVER));
		step_store(now); /* what the steps above asked for */
		next = earlier(next, store_due());
		if (k.control == -1 && LIST_EMPTY(&k.takers) && !stakes_any(now))
			_exit(0);
		sources_sleep(next);
	}
}
