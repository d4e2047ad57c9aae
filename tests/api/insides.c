/* SPDX-License-Identifier: ISC */
/*
 * insides.c - a taker that can't come to the lock: whether it waits on, and whom it names; and one
 * that finds an index that can't be rebuilt.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "internal.h"
#include "clock.h"

#define NOW (1000 * SECOND)

#define flki_monotonic_ns() (NOW)
#include "inside.c"
#undef flki_monotonic_ns

static struct header page;
static struct slot slots[FIRST_SLOTS];
static struct flk limiter;
static struct flk_taker one;
static unsigned questions;
static pid_t asked_about;
static bool answer;

static bool
ask(void *context, pid_t pid)
{
	(void)context;
	questions++;
	asked_about = pid;
	return answer;
}

/* The owner of slot 3 is inside. */
static void
begin_stuck(void)
{
	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	memset(&limiter, 0, sizeof(limiter));
	memset(&one, 0, sizeof(one));
	limiter.file.h = &page;
	limiter.file.slots = slots;
	limiter.file.backed = page.nslots = FIRST_SLOTS;
	one.flk = &limiter;
	slots[3].pid = 4711;
	atomic_store(&page.lock, flki_lock_mark(3, 9));
	questions = 0;
	asked_about = -1;
	answer = true;
}

static void
test_waits_on(void)
{
	begin_stuck();
	ok(waits_on(&one, NOW + 1, NULL), "a taker waits until its deadline");
	ok(!waits_on(&one, NOW, NULL), "and no longer");
	ok(!waits_on(&one, NOT_LONG, NULL), "or not long");
	atomic_store(&one.cancelled, 1);
	ok(!waits_on(&one, NOW + 1, NULL), "or until it is cancelled");
	atomic_store(&one.cancelled, 0);
	atomic_store(&one.interrupted, 1);
	ok(!waits_on(&one, NOW + 1, NULL), "or interrupted");
	atomic_store(&one.interrupted, 0);
	limiter.stuck = ask;
	ok(waits_on(&one, NOW + 1, NULL) && questions == 1, "if its program wants that");
	is(asked_about, 4711, "which is told who is inside");
	is(flki_local_stuck_pid(&limiter), 4711, "also later");
	answer = false;
	ok(!waits_on(&one, NOW + 1, NULL) && questions == 2, "or does not");
	ok(!waits_on(&one, NOT_LONG, NULL) && questions == 2,
	   "one that waits not long is not asked");
}

static void
test_who(void)
{
	begin_stuck();
	slots[3].pid = INT32_MAX;
	is(find_stuck(&limiter), INT32_MAX, "any process");
	slots[3].pid = UINT32_MAX;
	is(find_stuck(&limiter), 0, "but -1, which is every process, is none");
	atomic_store(&page.lock, flki_lock_mark(FIRST_SLOTS, 9));
	is(find_stuck(&limiter), 0, "nor is one in a slot that is not there");
	atomic_store(&page.lock, 0);
	is(find_stuck(&limiter), 0, "if it has left, there is none");
}

static sigset_t seen_mask;

static void
note_mask(int sig)
{
	(void)sig;
	pthread_sigmask(SIG_SETMASK, NULL, &seen_mask);
	questions++;
}

/* A signal that the caller lets in comes in while the taker waits, and is blocked again then. */
static void
test_signals(void)
{
	struct sigaction act = { .sa_handler = note_mask };
	sigset_t block, mask;

	begin_stuck();
	sigaction(SIGUSR1, &act, NULL);
	sigemptyset(&block);
	sigaddset(&block, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &block, &mask);
	raise(SIGUSR1);
	waits_on(&one, NOW + 1, NULL);
	is(questions, 0, "a signal that is blocked stays out");
	waits_on(&one, NOW + 1, &mask);
	is(questions, 1, "one that is let in comes in");
	pthread_sigmask(SIG_SETMASK, NULL, &block);
	is(sigismember(&block, SIGUSR1), 1, "and is blocked again then");
}

static void
test_damage(void)
{
	const struct flk_request want = { .weight = 1, .limit = 9 };
	struct flk *f = fresh(9);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	flk_try(a, &want);
	flk_try(b, &want);
	flk_try(c, &want);
	flk_leave(c);
	taker_slot(b)->ticket = taker_slot(a)->ticket;
	atomic_store(&f->file.h->doubted, 1);
	is(flk_try(c, &want), -FLK_DAMAGED, "slots that contradict each other");
	is(f->file.h->damaged, 1, "turn everyone away");
	is(f->file.h->doubted, 0, "and are not looked at again");
	is(flk_repair(f), 0, "until an operator repairs them");
	is(flk_try(c, &want), 0, "then all is as it was");
	flk_taker_free(c);
	flk_taker_free(b);
	flk_taker_free(a);
	whole(f, "after a repair");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_waits_on();
	test_who();
	test_signals();
	test_damage();
	return tap_done();
}
