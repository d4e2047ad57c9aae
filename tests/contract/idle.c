/* SPDX-License-Identifier: ISC */
/*
 * idle.c - flk_wait_idle(): until all takers are done that are there now.
 */
#include "contract.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>

static int
idle_ms(struct flk_taker *t, int ms)
{
	struct timespec until = in_ms(ms);

	return flk_wait_idle(t, &until);
}

static void
refusals(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *eye = taker(f);

	take(a, 1, 1);
	is(idle_ms(a, 1000), -FLK_BUSY, "a holder can't wait until it is idle");
	queue(b, 1, 1, 1);
	is(idle_ms(b, 1000), -FLK_BUSY, "nor can a waiter");
	is(idle_ms(eye, 50), -ETIMEDOUT, "another waits until its deadline");
	is(idle_ms(eye, -1000), -ETIMEDOUT, "or for no time at all");
	is_out(eye, "after flk_wait_idle()");
	flk_cancel(eye);
	is(idle_ms(eye, PATIENCE_MS), -FLK_CANCELLED, "or until it is cancelled");
	is_out(eye, "after a cancelled flk_wait_idle()");
	is(idle_ms(eye, 50), -ETIMEDOUT, "once");
	flk_taker_free(eye);
	done_with(f, "waiting in vain", a, b, NULL);
}

struct idler {
	struct flk *f;
	int code;
};

static void *
idle_in_thread(void *arg)
{
	struct idler *i = arg;
	struct flk_taker *t = taker(i->f);

	i->code = idle_ms(t, PATIENCE_MS);
	flk_taker_free(t);
	return NULL;
}

/* Meanwhile this thread asks the limiter nothing: a store's operator is one thread. */
static void
until_done(void)
{
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f);
	struct idler idler = { .f = f, .code = 1 };
	pthread_t thread;

	take(a, 1, 1);
	queue(b, 1, 1, 1);
	if (pthread_create(&thread, NULL, idle_in_thread, &idler) != 0)
		tap_bail("no thread");
	is(flk_release(a), 0, "the holder goes");
	is(wait_ms(b, PATIENCE_MS), 0, "the waiter is not delayed");
	is(flk_release(b), 0, "and goes");
	pthread_join(thread, NULL);
	is(idler.code, 0, "then all are done");
	is(idle_ms(a, PATIENCE_MS), 0, "where nobody is, there is nothing to wait for");
	done_with(f, "waiting until it is idle", a, b, NULL);
}

/* ---- signals ---- */

static volatile sig_atomic_t handled;

static void
handler(int sig)
{
	(void)sig;
	handled = 1;
}

static void
through_signals(void)
{
	struct sigaction action = { .sa_handler = handler };
	struct sigevent event = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct itimerspec soon = { .it_value = { .tv_nsec = 100000000 } };
	timer_t timer;
	struct flk *f = limiter(1);
	struct flk_taker *a = taker(f), *b = taker(f), *eye = taker(f);

	sigaction(SIGUSR1, &action, NULL);
	if (timer_create(CLOCK_MONOTONIC, &event, &timer) != 0)
		tap_bail("no timer");
	take(a, 1, 1);
	timer_settime(timer, 0, &soon, NULL);
	is(idle_ms(eye, 1000), -ETIMEDOUT, "a handler ends no flk_wait_idle()");
	ok(handled, "it ran");
	handled = 0;
	timer_settime(timer, 0, &soon, NULL);
	queue(b, 1, 1, 1);
	is(wait_ms(b, 1000), -ETIMEDOUT, "nor a flk_wait()");
	ok(handled, "it ran");
	timer_delete(timer);
	signal(SIGUSR1, SIG_DFL);
	flk_taker_free(eye);
	done_with(f, "waiting through signals", a, b, NULL);
}

void
contract_idle(void)
{
	refusals();
	until_done();
	through_signals();
}
