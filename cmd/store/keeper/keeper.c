#include "keeper.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include "clock.h"
#include "detach.h"
#include "kept.h"
#include "settings.h"
#include "store_exec.h"

#define NEVER  UINT64_MAX
#define LINGER SECOND /* for what the store is told after a release */
#define EVENTS 64

/* A taker that is done with, but may have something to tidy up in the store. */
struct retired {
	SLIST_ENTRY(retired) entry;
	struct branch *branch;
	struct engine_taker *taker;
	struct ear *ear;
	uint64_t until_ns;
};

static struct {
	int epoll, timer;
	int control;   /* -1: the wrapper is gone */
	pid_t wrapper; /* its pid */
	bool silent;   /* nobody is told anything any more */
	struct source on_control, on_timer;
	LIST_HEAD(all_kept, kept) kept;
	SLIST_HEAD(branches, branch) branches;
	SLIST_HEAD(all_retired, retired) retired;
} k;

int
keeper_watch(int fd, uint32_t events, struct source *s)
{
	struct epoll_event e = { .events = events, .data.ptr = s };

	return epoll_ctl(k.epoll, EPOLL_CTL_ADD, fd, &e) == -1 ? -errno : 0;
}

void
keeper_unwatch(int fd)
{
	epoll_ctl(k.epoll, EPOLL_CTL_DEL, fd, NULL);
}

void
keeper_retire(struct branch *b, struct engine_taker *t, struct ear *ear)
{
	struct retired *r = malloc(sizeof(*r));

	if (r == NULL) /* its lease ends by itself */
		return;
	*r = (struct retired){
		.branch = b, .taker = t, .ear = ear, .until_ns = flki_boottime_ns() + LINGER
	};
	SLIST_INSERT_HEAD(&k.retired, r, entry);
}

/* ---- limiters ---- */

static void
on_engine(struct source *s)
{
	struct branch *b = (void *)((char *)s - offsetof(struct branch, on_engine));

	engine_step(b->engine);
}

static struct branch *
find_branch(const char *limiter)
{
	struct engine_options o = { .url = &settings.url,
				    .limiter = limiter,
				    .ttl_s = settings.ttl_s,
				    .grace_s = settings.grace_s,
				    .manual = settings.manual };
	struct branch *b;

	SLIST_FOREACH(b, &k.branches, entry)
		if (strcmp(b->limiter, limiter) == 0)
			return b;
	b = calloc(1, sizeof(*b));
	if (b == NULL)
		return NULL;
	talk_copy(b->limiter, sizeof(b->limiter), limiter);
	o.limiter = b->limiter;
	b->on_engine.ready = on_engine;
	if (engine_open(&b->engine, &o, b->why) != 0)
		b->engine = NULL;
	else
		keeper_watch(engine_fd(b->engine), EPOLLIN, &b->on_engine);
	SLIST_INSERT_HEAD(&k.branches, b, entry);
	return b;
}

/* ---- the control socket ---- */

static void
take_in(const struct talk *t, int *fd)
{
	struct branch *b = *fd != -1 ? find_branch(t->limiter) : NULL;
	struct kept *s = b != NULL ? kept_new(b, *fd, t->cell, k.wrapper) : NULL;

	if (s == NULL)
		return;
	*fd = -1;
	LIST_INSERT_HEAD(&k.kept, s, entry);
}

static void
on_control(struct source *s)
{
	struct talk t;
	int error, fd;

	(void)s;
	while (k.control != -1 && (error = talk_receive(k.control, &t, &fd)) != -EAGAIN) {
		if (error == -EMFILE)
			continue; /* its taker finds nobody there, and has another keeper */
		if (error != 0) {
			keeper_unwatch(k.control);
			close(k.control);
			k.control = -1;
		} else if (t.kind == TALK_NEW) {
			take_in(&t, &fd);
		} else if (t.kind == TALK_HUSH) {
			detach_stderr();
		}
		if (fd != -1)
			close(fd);
	}
}

/* ---- the loop ---- */

static void
on_timer(struct source *s)
{
	uint64_t count;
	ssize_t n = read(k.timer, &count, sizeof(count));

	(void)s;
	(void)n; /* it was for what the loop does anyway */
}

static uint64_t
least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t
step_engines(uint64_t now)
{
	uint64_t next = NEVER;
	struct branch *b;

	SLIST_FOREACH(b, &k.branches, entry) {
		if (b->engine == NULL)
			continue;
		if (engine_due(b->engine) <= now)
			engine_step(b->engine);
		next = least(next, engine_due(b->engine));
	}
	return next;
}

static uint64_t
step_kept(uint64_t now)
{
	uint64_t next = NEVER;
	struct kept *s, *after;
	bool held = false;

	for (s = LIST_FIRST(&k.kept); s != NULL; s = after) {
		after = LIST_NEXT(s, entry);
		next = least(next, kept_step(s, now));
		held |= s->stage == HOLDS;
		if (kept_is_over(s)) {
			LIST_REMOVE(s, entry);
			kept_free(s);
		}
	}
	/* Who waits for the end of our wrapper's output has it when the command has ended, too. */
	if (k.control == -1 && !held && !k.silent) {
		detach_stderr();
		k.silent = true;
	}
	return next;
}

static uint64_t
step_retired(uint64_t now)
{
	struct retired *r, *after;
	uint64_t next = NEVER;

	for (r = SLIST_FIRST(&k.retired); r != NULL; r = after) {
		after = SLIST_NEXT(r, entry);
		if (now < r->until_ns && engine_due(r->branch->engine) != NEVER) {
			next = least(next, r->until_ns);
			continue;
		}
		SLIST_REMOVE(&k.retired, r, retired, entry);
		engine_taker_free(r->taker);
		free(r->ear);
		free(r);
	}
	return next;
}

static void
sleep_until(uint64_t next)
{
	struct itimerspec at = { .it_value = { (time_t)(next / SECOND), (long)(next % SECOND) } };
	struct epoll_event event[EVENTS];
	int i, n;

	if (next != NEVER)
		timerfd_settime(k.timer, TFD_TIMER_ABSTIME, &at, NULL);
	n = epoll_wait(k.epoll, event, EVENTS,
		       next != NEVER && next <= flki_boottime_ns() ? 0 : -1);
	for (i = 0; i < n; i++) {
		struct source *s = event[i].data.ptr;
		s->ready(s); /* nothing is freed before all have been told */
	}
}

_Noreturn void
keeper_run(int control, pid_t wrapper, bool quiet)
{
	uint64_t now, next;

	k.wrapper = wrapper;
	k.control = detach(control, quiet);
	k.epoll = epoll_create1(EPOLL_CLOEXEC);
	k.timer = timerfd_create(CLOCK_BOOTTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	k.on_control.ready = on_control;
	k.on_timer.ready = on_timer;
	if (k.control == -1 || k.epoll == -1 || k.timer == -1 ||
	    keeper_watch(k.control, EPOLLIN, &k.on_control) != 0 ||
	    keeper_watch(k.timer, EPOLLIN, &k.on_timer) != 0)
		_exit(1);
	for (;;) {
		now = flki_boottime_ns();
		next = step_engines(now);
		next = least(next, step_kept(now));
		next = least(next, step_retired(now));
		next = least(next, step_engines(now)); /* what the others have asked for */
		if (k.control == -1 && LIST_EMPTY(&k.kept) && SLIST_EMPTY(&k.retired))
			_exit(0);
		sleep_until(next);
	}
}
