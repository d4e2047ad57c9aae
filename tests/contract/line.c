/* SPDX-License-Identifier: ISC */
/*
 * line.c - into the line and out of it: acquire, try, timeouts, leave, cancel, interrupt.
 */
#include "contract.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

static const struct flk_request one = { .weight = 1, .limit = 1 };
static const struct timespec past = { .tv_sec = 0 };

static void
acquire_for(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	uint64_t began;

	is(flk_acquire_for(a, &one, 0), 0, "0 ms take what is free");
	is(flk_acquire_for(b, &one, 0), -EAGAIN, "and wait for nothing");
	is_out(b, "after 0 ms");
	began = now_ns();
	is(flk_acquire_for(b, &one, 200), -ETIMEDOUT, "200 ms are a wait");
	ok(now_ns() - began >= 200000000, "of 200 ms at least");
	is_out(b, "after 200 ms");
	is(flk_acquire(b, &one, &past), -ETIMEDOUT, "flk_acquire() with a deadline in the past");
	is_out(b, "after the past");
	is(flk_acquire_for(b, &one, -2), -EINVAL, "a span that ran out is an error");
	is(flk_acquire_for(b, &one, INT64_MIN), -EINVAL, "however long ago");
	is_out(b, "after a wrong span");
	is(flk_release(a), 0, "the permit goes back");
	is(flk_acquire_for(b, &one, -1), 0, "-1 takes what is free");
	is(flk_release(b), 0, "and gives it back");
	is(flk_acquire_for(b, &one, 60000), 0, "so does a minute");
	is(flk_acquire_for(b, &one, 60000), -FLK_BUSY, "once");
	is(flk_release(b), 0, "that goes back too");
	done_with(f, "acquire for a time", a, b, NULL);
}

static void
try_and_order(void)
{
	struct flk *f = limiter(2);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	is(try_it(a, 1, 2), 0, "flk_try() takes what is free");
	is(try_it(a, 1, 2), -FLK_BUSY, "a holder takes no other permit");
	is(try_it(b, 2, 2), -EAGAIN, "what does not fit is not waited for");
	is_out(b, "after flk_try()");
	queue(b, 2, 2, 1);
	is(flk_enqueue(b, &one), -FLK_BUSY, "a waiter stands in the line once");
	is(flk_release(b), -FLK_NOPERMIT, "and has no permit");
	is(try_it(c, 1, 2), -EAGAIN, "flk_try() does not overtake a heavy waiter");
	queue(c, 1, 2, 2);
	is(wait_ms(c, 0), -ETIMEDOUT, "nor does a light waiter");
	is(flk_release(a), 0, "the holder goes");
	is(wait_ms(b, PATIENCE_MS), 0, "the head is granted");
	is(wait_ms(b, 0), 0, "and a wait that is over is over");
	is(wait_ms(c, 0), -ETIMEDOUT, "the second waits on");
	is(flk_release(b), 0, "the head goes");
	is(wait_ms(c, PATIENCE_MS), 0, "the second is granted");
	done_with(f, "the order of arrival", a, b, c, NULL);
}

static void
leave(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	is(flk_leave(a), 0, "a taker that never came leaves without an error");
	is(flk_wait(a, NULL, NULL), -FLK_NOPERMIT, "and can't wait");
	take(a, 1, 1);
	queue(b, 1, 1, 1);
	is(wait_ms(b, 20), -ETIMEDOUT, "a wait times out");
	ok(stands(f, 1, 1), "and keeps the place");
	queue(c, 1, 1, 2);
	is(flk_leave(b), 0, "the head leaves");
	is_out(b, "after flk_leave()");
	ok(stands(f, 1, 1), "the line is shorter");
	is(flk_leave(a), 0, "a holder that leaves");
	is_out(a, "after flk_leave() of a holder");
	is(wait_ms(c, PATIENCE_MS), 0, "has released");
	is(flk_leave(c), 0, "a taker that was granted meanwhile");
	ok(stands(f, 0, 0), "releases when it leaves");
	take(a, 1, 1);
	queue(b, 1, 1, 1);
	flk_taker_free(b);
	ok(stands(f, 1, 0), "a waiter that is freed leaves the line");
	flk_taker_free(a);
	ok(stands(f, 0, 0), "and a holder releases");
	done_with(f, "leaving", c, NULL);
	flk_taker_free(NULL);
	flk_detach(NULL);
}

/* ---- another thread ends a wait ---- */

struct ender {
	struct flk_taker *taker;
	void (*end)(struct flk_taker *taker);
	bool in_time;
};

static void *
end_the_wait(void *arg)
{
	struct ender *e = arg;

	e->in_time = stands(flk_limiter(e->taker), 1, 1);
	e->end(e->taker);
	return NULL;
}

static void
ended_by(struct flk_taker *t, void (*end)(struct flk_taker *), int64_t ms, int code,
	 const char *what)
{
	struct ender e = { .taker = t, .end = end };
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_the_wait, &e) != 0)
		tap_bail("no thread");
	is(flk_acquire_for(t, &one, ms), code, "%s ends a wait", what);
	pthread_join(thread, NULL);
	ok(e.in_time, "%s found the taker in the line", what);
	is_out(t, what);
}

static void
cancel(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);

	take(a, 1, 1);
	ended_by(b, flk_cancel, -1, -FLK_CANCELLED, "flk_cancel() of -1 ms");
	ended_by(b, flk_cancel, INT64_MAX, -FLK_CANCELLED, "flk_cancel() of the longest span");
	ended_by(b, flk_interrupt, -1, -EINTR, "flk_interrupt()");

	flk_cancel(b);
	queue(b, 1, 1, 1);
	is(wait_ms(b, PATIENCE_MS), -FLK_CANCELLED, "flk_cancel() before the wait ends the next");
	is_out(b, "after a cancelled wait");
	flk_cancel(a);
	is(flk_release(a), 0, "flk_cancel() of a holder loses no permit");
	take(a, 1, 1);
	is(flk_release(a), 0, "nor is it in the way of a permit that is free");
	take(b, 1, 1);
	queue(a, 1, 1, 1);
	is(wait_ms(a, PATIENCE_MS), -FLK_CANCELLED, "but it ends the next wait");
	done_with(f, "cancelling", a, b, NULL);
}

static void
interrupt(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	take(a, 1, 1);
	queue(b, 1, 1, 1);
	queue(c, 1, 1, 2);
	flk_interrupt(b);
	is(wait_ms(b, PATIENCE_MS), -EINTR, "flk_interrupt() ends the next wait");
	is(wait_ms(b, 0), -ETIMEDOUT, "once");
	is(flk_release(a), 0, "and when the holder goes");
	is(wait_ms(b, PATIENCE_MS), 0, "the taker has kept its place");
	done_with(f, "interrupting", a, b, c, NULL);
}

/* ---- signals ---- */

static struct flk_taker *of_handler;

static void
handler(int sig)
{
	(void)sig;
	flk_interrupt(of_handler);
}

/* The signal is pending until flk_wait() sleeps with it unblocked. */
static void
mask(void)
{
	struct sigaction action = { .sa_handler = handler };
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct timespec until;
	sigset_t usr1, before;

	take(a, 1, 1);
	queue(b, 1, 1, 1);
	of_handler = b;
	sigaction(SIGUSR1, &action, NULL);
	sigemptyset(&usr1);
	sigaddset(&usr1, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &usr1, &before);
	raise(SIGUSR1);
	is(wait_ms(b, 50), -ETIMEDOUT, "a signal that is blocked ends no wait");
	until = in_ms(PATIENCE_MS);
	is(flk_wait(b, &until, &before), -EINTR, "a handler runs by the mask of flk_wait()");
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	signal(SIGUSR1, SIG_DFL);
	done_with(f, "the mask of a wait", a, b, NULL);
}

void
contract_line(void)
{
	acquire_for();
	try_and_order();
	leave();
	cancel();
	interrupt();
	mask();
}
