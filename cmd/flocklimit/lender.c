/* SPDX-License-Identifier: ISC */
#include "lender.h"

#include <errno.h>
#include <setjmp.h>
#include <unistd.h>

#include "kind.h"
#include "now.h"
#include "spawn.h"

#define STACK     (256 * 1024)
#define LENT_SOON (SECOND / 2) /* the command does not wait longer for its first tokens */

void
lender_wake(struct lender *l, bool news)
{
	sigjmp_buf cut;

	pthread_mutex_lock(&l->lock);
	l->woken = true;
	l->news |= news;
	fault_jump = &cut;
	if (sigsetjmp(cut, 1) != 0)
		l->lost = true;
	else if (l->asleep != NULL && !l->lost)
		flk_interrupt(l->asleep);
	fault_jump = NULL;
	pthread_cond_broadcast(&l->change);
	pthread_mutex_unlock(&l->lock);
}

/* Sleeps until the lender is woken, or has a permit, or the time has come.  False at the end. */
static bool
sleep_until(struct lender *l, uint64_t due)
{
	struct flk_taker *asking = tokens_asking(&l->tokens);
	struct timespec at = flki_timespec(due);
	bool going;
	int code;

	pthread_mutex_lock(&l->lock);
	l->looked = true;
	pthread_cond_broadcast(&l->change);
	if (asking != NULL && !l->woken && !l->ending) {
		l->asleep = asking;
		pthread_mutex_unlock(&l->lock);
		code = flk_wait(asking, due == NEVER ? NULL : &at, NULL);
		tokens_heard(&l->tokens, code);
		pthread_mutex_lock(&l->lock);
		l->asleep = NULL;
		l->news |= code != -EINTR;
	} else {
		while (!l->woken && !l->ending)
			if (due == NEVER)
				pthread_cond_wait(&l->change, &l->lock);
			else if (pthread_cond_timedwait(&l->change, &l->lock, &at) == ETIMEDOUT)
				break;
	}
	l->woken = false;
	going = !l->ending;
	pthread_mutex_unlock(&l->lock);
	return going;
}

static bool
take_news(struct lender *l)
{
	bool news;

	pthread_mutex_lock(&l->lock);
	news = l->news;
	l->news = false;
	pthread_mutex_unlock(&l->lock);
	return news;
}

/* The lender lends no more, or has not begun: then that is why, unless it is 0. */
static void
stop_lending(struct lender *l, int error)
{
	pthread_mutex_lock(&l->lock);
	l->asleep = NULL;
	l->failed = error;
	l->looked = true;
	pthread_cond_broadcast(&l->change);
	pthread_mutex_unlock(&l->lock);
}

static void
lend_to_end(struct lender *l)
{
	uint64_t due = 0, tend;
	char events[4096];
	int error;

	kind_by_signal();
	if ((error = tokens_begin(&l->tokens)) != 0) {
		stop_lending(l, error);
	} else {
		do {
			if (take_news(l) || now_ns() >= due) {
				while (read(l->notify, events, sizeof(events)) > 0)
					;
				due = tokens_look(&l->tokens);
			}
			tend = kind_look();
		} while (sleep_until(l, due < tend ? due : tend));
	}
	tokens_end(&l->tokens);
}

static void *
lend_tokens(void *lender)
{
	struct lender *l = lender;
	sigjmp_buf cut;

	fault_jump = &cut;
	if (sigsetjmp(cut, 1) == 0) {
		lend_to_end(l);
	} else {
		fault_say();
		stop_lending(l, 0);
	}
	return NULL;
}

int
lender_start(struct lender *l)
{
	struct timespec until = flki_timespec(now_ns() + LENT_SOON);
	pthread_condattr_t clock;
	pthread_attr_t small;
	int error;

	pthread_mutex_init(&l->lock, NULL);
	pthread_condattr_init(&clock);
	pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
	pthread_cond_init(&l->change, &clock);
	pthread_attr_init(&small);
	pthread_attr_setstacksize(&small, STACK);
	error = pthread_create(&l->thread, &small, lend_tokens, l);
	pthread_attr_destroy(&small);
	pthread_condattr_destroy(&clock);
	if (error != 0)
		return -error;
	l->lends = true;
	pthread_mutex_lock(&l->lock);
	while (!l->looked && pthread_cond_timedwait(&l->change, &l->lock, &until) != ETIMEDOUT)
		;
	error = l->failed;
	pthread_mutex_unlock(&l->lock);
	return error;
}

bool
lender_end(struct lender *l)
{
	if (!l->lends)
		return false;
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	pthread_mutex_unlock(&l->lock);
	lender_wake(l, false);
	if (!l->lost)
		pthread_join(l->thread, NULL);
	return !l->lost;
}
