/* SPDX-License-Identifier: ISC */
/*
 * acquiring.c - lib/acquire.c and lib/await.c compute deadlines, ask, and leave the line; line and
 * clock are our own, so a wait of ten days takes no time.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "clock.h"
#include "share.h"

#define NOW (1000 * SECOND)
#define DAY (INT64_C(86400) * 1000) /* ms */

static struct {
	int queued, waited[4]; /* what the line answers */
	uint64_t takes_ns;     /* how long each wait takes */
} plan;

static uint64_t the_time, queue_until, wait_until_ns[4];
static unsigned waits_done, tries, leaves, answers;
static bool answer;

static int
fake_queue(uint64_t until)
{
	queue_until = until;
	return plan.queued;
}

static int
fake_wait(const struct timespec *deadline)
{
	wait_until_ns[waits_done] = flki_deadline_ns(deadline);
	the_time += plan.takes_ns;
	return plan.waited[waits_done++];
}

#define flki_monotonic_ns()         (the_time)
#define flki_queue(t, want, until)  fake_queue(until)
#define flk_wait(t, deadline, mask) ((void)(mask), fake_wait(deadline))
#define flk_try(t, want)            (tries++, -EAGAIN)
#define flk_leave(t)                (leaves++)
#define flk_answer(t, yes)          (answers++, answer = (yes))
#include "await.c"
#include "acquire.c"
#undef flk_wait
#undef flk_try
#undef flk_leave

static const struct flk_request one = { .weight = 1 };

static void
begin_line(int queued, int first, int second)
{
	memset(&plan, 0, sizeof(plan));
	plan.queued = queued;
	plan.waited[0] = first;
	plan.waited[1] = second;
	the_time = NOW;
	waits_done = tries = leaves = answers = 0;
	queue_until = 1;
}

static void
test_spans(void)
{
	static const struct {
		int64_t ms;
		uint64_t until;
	} spans[] = {
		{ 1, NOW + MS },
		{ 1500, NOW + 1500 * MS },
		{ 10 * DAY, NOW + UINT64_C(864000) * SECOND },
		{ 36500 * DAY, NOW + UINT64_C(3153600000) * SECOND },
		{ -1, UINT64_MAX },
		{ INT64_MAX, UINT64_MAX },
		{ 18446744073710, UINT64_MAX },
	};
	unsigned i;

	for (i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		begin_line(0, 0, 0);
		is(flk_acquire_for(NULL, &one, spans[i].ms), 0, "a wait of at most %lld ms",
		   (long long)spans[i].ms);
		ok(queue_until == spans[i].until, "ends then, and not before");
	}
	begin_line(0, 0, 0);
	is(flk_acquire_for(NULL, &one, 0), -EAGAIN, "0 ms are a try");
	ok(tries == 1 && queue_until == 1, "without a wait");
	is(flk_acquire_for(NULL, &one, -2), -EINVAL, "a span that has run out is none");
	is(flk_acquire_for(NULL, &one, INT64_MIN), -EINVAL, "however long ago");
	ok(tries == 1 && queue_until == 1, "nor for ever");
}

static void
test_ends(void)
{
	begin_line(0, 0, 0);
	is(flk_acquire(NULL, &one, NULL), 0, "a permit at once");
	ok(queue_until == UINT64_MAX && waits_done == 0 && leaves == 0, "needs no wait");
	begin_line(-EINPROGRESS, 0, 0);
	is(flk_acquire(NULL, &one, NULL), 0, "or after one");
	ok(waits_done == 1 && wait_until_ns[0] == UINT64_MAX && leaves == 0, "however long");
	begin_line(-EINPROGRESS, -FLK_EVICTED, 0);
	is(flk_acquire(NULL, &one, NULL), -FLK_EVICTED, "whatever else ends the wait");
	is(leaves, 1, "ends the place in the line");
	begin_line(-FLK_HEAVY, 0, 0);
	is(flk_acquire(NULL, &one, NULL), -FLK_HEAVY, "also before it");
	is(leaves, 1, "as well");
	begin_line(-FLK_BUSY, 0, 0);
	is(flk_acquire(NULL, &one, NULL), -FLK_BUSY, "a taker that has a permit");
	is(leaves, 0, "keeps it");
	begin_line(-FLK_STRANGER, 0, 0);
	is(flk_acquire(NULL, &one, NULL), -FLK_STRANGER, "and another thread's");
	is(leaves, 0, "its");
}

static bool
say_yes(void *context)
{
	++*(unsigned *)context;
	return true;
}

static void
test_question(void)
{
	unsigned asked = 0;
	const struct flk_request want = { .weight = 1, .ask = say_yes, .ask_context = &asked };

	begin_line(-EINPROGRESS, -FLK_ASK, 0);
	is(flk_acquire(NULL, &want, NULL), 0, "a question is asked, and the wait goes on");
	ok(asked == 1 && answers == 1 && answer && waits_done == 2, "with the answer");
}

static uint64_t
in_a_second(void *context, struct flk_taker *t)
{
	(void)t;
	++*(unsigned *)context;
	return the_time + SECOND;
}

static uint64_t
never_again(void *context, struct flk_taker *t)
{
	(void)t;
	++*(unsigned *)context;
	return UINT64_MAX;
}

static void
test_waits(void)
{
	unsigned called = 0;

	begin_line(-EINPROGRESS, -ETIMEDOUT, 0);
	plan.takes_ns = SECOND;
	is(flki_acquire(NULL, &one, NOW + 90 * SECOND, in_a_second, &called), 0,
	   "a wait is interrupted as often as its caller wants");
	ok(called == 2 && wait_until_ns[0] == NOW + SECOND && wait_until_ns[1] == NOW + 2 * SECOND,
	   "and goes on");
	begin_line(-EINPROGRESS, -ETIMEDOUT, 0);
	plan.takes_ns = SECOND / 2;
	is(flki_acquire(NULL, &one, NOW + SECOND / 2, in_a_second, &called), -ETIMEDOUT,
	   "until its deadline");
	ok(waits_done == 1 && wait_until_ns[0] == NOW + SECOND / 2 && leaves == 1, "and no longer");
	begin_line(-EINPROGRESS, 0, 0);
	is(flki_acquire(NULL, &one, UINT64_MAX, never_again, &called), 0, "or not at all");
	ok(wait_until_ns[0] == UINT64_MAX, "for ever");
}

int
main(void)
{
	begin();
	test_spans();
	test_ends();
	test_question();
	test_waits();
	return tap_done();
}
