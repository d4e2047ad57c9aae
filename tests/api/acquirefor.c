/*
 * acquirefor.c - flk_acquire_for(), and what flk_acquire() leaves behind when its time is over.  It
 * is built twice: over limiters of this machine, and over those of a store, which keep the same
 * contract.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>
#include <sys/stat.h>

#include "../helpers/common.h"
#ifdef OVER_STORE
#include "settings.h"
#include "wrapper/store.h"
#endif

static const struct flk_request one = { .weight = 1, .limit = 1 };

#ifdef OVER_STORE

static struct flk *
a_limiter(void)
{
	const char *path = fresh_path(), *wrong;
	static char url[200];
	struct flk *f;

	if (mkdir(path, 0700) != 0)
		tap_bail("no directory %s", path);
	snprintf(url, sizeof(url), "yes://local/team?dir=%s", path);
	if ((wrong = url_parse(&settings.url, url)) != NULL)
		tap_bail("%s: %s", url, wrong);
	settings.grace_s = 2;
	if (store_attach(&f, "lim", NULL) != 0)
		tap_bail("no limiter in %s", url);
	return f;
}

#else

static struct flk *
a_limiter(void)
{
	return attach(fresh_path());
}

#endif

/* The taker stands nowhere: it can't wait, and can take a permit when there is one. */
static void
out_of_line(struct flk_taker *t, const char *after)
{
	struct timespec past = { .tv_sec = 0 };

	is(flk_wait(t, &past, NULL), -FLK_NOPERMIT, "%s: the taker is not in the line", after);
	flk_leave(t);
}

static void *
cancel_soon(void *taker)
{
	nanosleep(&(struct timespec){ .tv_nsec = 100000000 }, NULL);
	flk_cancel(taker);
	return NULL;
}

static void
cancelled(struct flk_taker *t, int64_t ms, const char *what)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, cancel_soon, t) != 0)
		tap_bail("no thread");
	is(flk_acquire_for(t, &one, ms), -FLK_CANCELLED, "%s: the wait goes on until flk_cancel()",
	   what);
	pthread_join(thread, NULL);
	out_of_line(t, what);
}

int
main(void)
{
	struct timespec past = { .tv_sec = 0 };
	struct flk_taker *a, *b;
	struct flk *f;
	uint64_t began;

	begin();
	f = a_limiter();
	a = taker(f);
	b = taker(f);
	is(flk_acquire_for(a, &one, 0), 0, "0 takes what is free");
	is(flk_acquire_for(b, &one, 0), -EAGAIN, "and waits for nothing");
	out_of_line(b, "0");
	began = now_ns();
	is(flk_acquire_for(b, &one, 200), -ETIMEDOUT, "200 ms are");
	ok(now_ns() - began >= 200000000, "200 ms at least");
	out_of_line(b, "200 ms");
	is(flk_acquire(b, &one, &past), -ETIMEDOUT, "flk_acquire() with a deadline in the past");
	out_of_line(b, "the past");
	is(flk_acquire_for(b, &one, -2), -EINVAL, "a span that ran out is an error");
	is(flk_acquire_for(b, &one, INT64_MIN), -EINVAL, "however long ago");
	cancelled(b, -1, "-1");
	cancelled(b, INT64_MAX, "the longest span");
	is(flk_release(a), 0, "the permit goes back");
	is(flk_acquire_for(b, &one, -1), 0, "-1 takes what is free");
	is(flk_release(b), 0, "and gives it back");
	is(flk_acquire_for(b, &one, 60000), 0, "so does a minute");
	is(flk_acquire_for(b, &one, 60000), -FLK_BUSY, "once");
	is(flk_release(b), 0, "that goes back too");
	flk_taker_free(a);
	flk_taker_free(b);
	flk_detach(f);
	return tap_done();
}
