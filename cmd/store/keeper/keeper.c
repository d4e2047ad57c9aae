/* SPDX-License-Identifier: ISC */
#include "keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "clock.h"
#include "close_fd.h"
#include "detach.h"
#include "host/alive.h"
#include "host/ledger.h"
#include "keeper_taker.h"
#include "now.h"
#include "settings.h"
#include "stake.h"
#include "title.h"
#include "kind.h"

#define LINGER (3 * SECOND) /* for a host's next taker, which finds a keeper that knows the store */
#define BEATS  9            /* in a ttl; the deputy misses three */

/* A wrapper. */
struct control {
	struct source source; /* first */
	LIST_ENTRY(control) entry;
	int socket; /* -1: it is gone */
	pid_t pid;
};

static struct {
	const char *life;          /* our name in the store, */
	bool heir;                 /* which the keeper before had, too */
	bool silent;               /* stderr is closed: the keeper reports nothing any more */
	struct fleet_store *store; /* NULL: it is not open yet, or can't be opened: */
	char why[FLEET_TEXT];      /* why */
	struct source on_store;
	LIST_HEAD(all_controls, control) controls;
	LIST_HEAD(all_takers, keeper_taker) takers;
	SLIST_HEAD(all_limiters, keeper_limiter) limiters;

	/* ---- of a host ---- */
	struct host *host; /* NULL: we are one wrapper's */
	int lock;          /* the board once more, for locks that are no process's */
	uint64_t idle_ns;  /* since when nobody needs us; 0: somebody does */
	struct source on_listener, on_deputy;
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
	if (k.host == NULL)
		title_set(l->name);
	l->why = k.why;
	SLIST_INSERT_HEAD(&k.limiters, l, entry);
	return l;
}

/* ---- its takers ---- */

/* socket: -1 for a taker whose wrapper has yet to come. */
static struct keeper_taker *
add_taker(const char *limiter, int socket, uint32_t cell, pid_t wrapper)
{
	struct keeper_limiter *l = find_limiter(limiter);
	struct keeper_taker *s = l != NULL ? keeper_taker_new(l, socket, cell, wrapper) : NULL;

	if (s == NULL)
		return NULL;
	if (l->fleet == NULL && open_store())
		l->fleet = fleet_open(k.store, l->name);
	LIST_INSERT_HEAD(&k.takers, s, entry);
	return s;
}

void
keeper_supersede(const struct keeper_taker *by)
{
	struct keeper_taker *s;

	LIST_FOREACH(s, &k.takers, entry)
		if (s != by && s->unclaimed && strcmp(s->self, by->self) == 0)
			keeper_taker_give_up(s);
}

bool
keeper_has_wrapper(const struct keeper_taker *s)
{
	return alive_has_cell(k.lock, s->cell);
}

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
	if (LIST_EMPTY(&k.controls) && !held && !k.silent) {
		detach_stderr();
		k.silent = true;
	}
	return next;
}

/* ---- its wrappers ---- */

static void
on_control(struct source *source)
{
	struct control *c = (struct control *)source;
	struct talk t;
	int error, fd;

	while (c->socket != -1 && (error = talk_receive(c->socket, &t, &fd)) != -EAGAIN) {
		if (error == -EMFILE)
			continue; /* its taker finds the socket closed, and gets another keeper */
		if (error != 0) {
			source_unwatch(c->socket);
			close_fd(&c->socket);
		} else if (t.kind == TALK_NEW) {
			if (fd != -1 && t.cell < (k.host != NULL ? BOARD_CELLS : FLK_MAX_TAKERS) &&
			    add_taker(t.limiter, fd, t.cell, c->pid) != NULL)
				fd = -1;
		} else if (t.kind == TALK_HUSH && k.host == NULL) {
			detach_stderr();
		}
		close_fd(&fd);
	}
}

static bool
add_control(int socket, pid_t pid)
{
	struct control *c = calloc(1, sizeof(*c));

	if (c == NULL)
		return false;
	*c = (struct control){ .source.ready = on_control, .socket = socket, .pid = pid };
	if (source_watch(socket, EPOLLIN, &c->source) == 0) {
		LIST_INSERT_HEAD(&k.controls, c, entry);
		return true;
	}
	free(c);
	return false;
}

static void
drop_controls(void)
{
	struct control *c, *after;

	for (c = LIST_FIRST(&k.controls); c != NULL; c = after) {
		after = LIST_NEXT(c, entry);
		if (c->socket != -1)
			continue;
		LIST_REMOVE(c, entry);
		free(c);
	}
}

static bool
is_needed(uint64_t now)
{
	return !LIST_EMPTY(&k.controls) || !LIST_EMPTY(&k.takers) || stakes_any(now);
}

/* ---- the loop ---- */

static uint64_t
step(uint64_t now)
{
	uint64_t next;

	step_store(now);
	next = step_takers(now);
	next = earlier(next, stakes_step(now, store_due() == NEVER));
	drop_controls();
	step_store(now); /* what the steps above asked for */
	return earlier(next, store_due());
}

static void
begin(const char *life, bool heir)
{
	title_set(NULL);
	memset(&k, 0, sizeof(k)); /* we may be the descendant of another keeper */
	stakes_begin();
	k.life = life;
	k.heir = heir;
	k.on_store.ready = on_store;
	if (!sources_open())
		_exit(1);
}

_Noreturn void
keeper_run(int control, pid_t wrapper, const char *life, bool heir, bool quiet)
{
	uint64_t now, next;

	if (!detach(&control, 1, quiet))
		_exit(1);
	begin(life, heir);
	if (!add_control(control, wrapper))
		_exit(1);
	for (;;) {
		now = flki_boottime_ns();
		next = step(now);
		if (!is_needed(now))
			_exit(0);
		sources_sleep(next);
	}
}

/* ---- of a host ---- */

static void
on_listener(struct source *s)
{
	pid_t pid;
	int fd;

	(void)s;
	while ((fd = accept4(k.host->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK)) != -1)
		if ((pid = meeting_peer(fd)) == 0 || !add_control(fd, pid))
			close(fd);
}

static void
watch_deputy(void)
{
	const struct keeper_taker *s;

	source_watch(deputy_socket(), 0, &k.on_deputy);
	LIST_FOREACH(s, &k.takers, entry)
		keeper_taker_entrust(s);
}

static void
on_deputy(struct source *s)
{
	(void)s;
	source_unwatch(deputy_socket());
	deputy_again();
	watch_deputy();
}

static void
restore(void)
{
	struct ledger_row *row;
	struct keeper_taker *s;

	for (row = ledger_next(NULL); row != NULL; row = ledger_next(row)) {
		s = add_taker(row->limiter, -1, row->cell, 0);
		if (s == NULL)
			_exit(1);
		keeper_taker_restore(s, row);
	}
}

/* With the lock nobody begins a keeper, and nobody can connect once the names are gone. */
static uint64_t
end_if_idle(uint64_t now)
{
	struct host *h = k.host;

	if (is_needed(now))
		k.idle_ns = 0;
	else if (k.idle_ns == 0)
		k.idle_ns = now;
	if (k.idle_ns == 0)
		return NEVER;
	if (now - k.idle_ns < LINGER)
		return k.idle_ns + LINGER;
	switch (meeting_lock(&h->meeting, k.lock, 1)) {
	case -EAGAIN:
		return now + LINGER; /* a wrapper has just come */
	case 0:
		meeting_remove(&h->meeting);
		break;
	default:
		break; /* somebody has removed it */
	}
	deputy_end();
	_exit(0);
}

_Noreturn void
keeper_run_host(struct host *h)
{
	const uint64_t beat = settings.ttl_s * SECOND / BEATS;
	uint64_t now, next;
	char board[40];

	prctl(PR_SET_NAME, "store-keeper");
	begin(h->board->life, h->board->keepers++ > 0);
	k.host = h;
	k.silent = true;
	k.on_listener.ready = on_listener;
	k.on_deputy.ready = on_deputy;
	snprintf(board, sizeof(board), "/proc/self/fd/%d", h->file);
	k.lock = open(board, O_RDWR | O_CLOEXEC);
	board_ns = h->board->alive_ns;
	ledger_begin(h->board);
	if (k.lock == -1 || !alive_say(h->file, ALIVE_KEEPER) ||
	    source_watch(h->listener, EPOLLIN, &k.on_listener) != 0)
		_exit(1);
	restore();
	watch_deputy();
	for (;;) {
		now = flki_boottime_ns();
		atomic_store(&h->board->pulse_ns, now_ns());
		next = step(now);
		next = earlier(next, end_if_idle(now));
		sources_sleep(earlier(next, now + beat));
	}
}
