/* SPDX-License-Identifier: ISC */
/*
 * futexes.c - what lib/futex.c asks the kernel for, word by word: a call that is wrong in one of them
 * fails, or sleeps on, only on some kernels.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <unistd.h>

#include "clock.h"
#include "futex.h"

static long asked[7];
static struct timespec deadline_asked;
static int result, failed_with;

static int
fake_call(long number, const void *word, long what, long value, const struct timespec *deadline,
	  long fifth, long sixth)
{
	const long all[7] = { number, (long)word, what, value, deadline != NULL, fifth, sixth };
	unsigned i;

	for (i = 0; i < 7; i++)
		asked[i] = all[i];
	if (deadline != NULL)
		deadline_asked = *deadline;
	errno = failed_with;
	return result;
}

/* futex_waitv(2) has five arguments, futex(2) six. */
#define CALL5(number, a, b, c, d, e)        fake_call(number, a, (long)(b), c, d, (long)(e), 0)
#define CALL6(number, a, b, c, d, e, f)     fake_call(number, a, b, (long)(c), d, (long)(e), (long)(f))
#define CHOOSE(a, b, c, d, e, f, g, h, ...) h
#define syscall(...)                        CHOOSE(__VA_ARGS__, CALL6, CALL5, )(__VA_ARGS__)
#include "futex.c"
#undef syscall

#define AT (5 * SECOND + 7)

static bool
deadline_is_right(void)
{
	return asked[4] && deadline_asked.tv_sec == 5 && deadline_asked.tv_nsec == 7;
}

static void
test_many(void)
{
	_Atomic uint32_t word = 3;
	struct futex_word words[2] = { flki_futex_on(&word, 3), flki_futex_on(&word, 3) };

	ok(words[0].value == 3 && words[0].address == (uintptr_t)&word && words[0].flags == 2 &&
	       words[0].reserved == 0,
	   "a word of 32 bits that processes share");
	is(flki_futex_sleep_on(words, 2, AT), 0, "a sleep on two words");
	ok(asked[0] == 449 && asked[1] == (long)words && asked[2] == 2 && asked[3] == 0 &&
	       asked[5] == CLOCK_MONOTONIC,
	   "is futex_waitv(2), without flags, by the monotonic clock");
	ok(deadline_is_right(), "until the deadline");
	result = 1;
	is(flki_futex_sleep_on(words, 2, AT), 0, "whichever word it was");
	result = -1;
	failed_with = EPERM;
	is(flki_futex_sleep_on(words, 2, AT), -ENOSYS, "a filter may refuse it");
	failed_with = ENOSYS;
	is(flki_futex_sleep_on(words, 2, AT), -ENOSYS, "an old kernel has no such call");
	failed_with = EAGAIN;
	is(flki_futex_sleep_on(words, 2, AT), -EAGAIN, "and others have their own names");
}

static void
test_one(void)
{
	_Atomic uint32_t word = 3;

	result = 0;
	is(flki_futex_sleep(&word, 3, AT), 0, "a sleep on one word");
	ok(asked[0] == FUTEX_CALL && asked[1] == (long)&word && asked[2] == 9 && asked[3] == 3 &&
	       (uint32_t)asked[6] == UINT32_MAX && deadline_is_right(),
	   "is FUTEX_WAIT_BITSET with an absolute deadline, for any waker");
	result = -1;
	failed_with = ETIMEDOUT;
	is(flki_futex_sleep(&word, 3, AT), -ETIMEDOUT, "which may pass");
	flki_futex_wake(&word);
	ok(asked[0] == FUTEX_CALL && asked[1] == (long)&word && asked[2] == 1 && asked[3] == 1 &&
	       !asked[4] && asked[5] == 0 && asked[6] == 0,
	   "one is woken");
	flki_futex_wake_all(&word);
	ok(asked[2] == 1 && asked[3] == INT_MAX && !asked[4] && asked[5] == 0 && asked[6] == 0,
	   "or all");
}

int
main(void)
{
	begin();
	test_many();
	test_one();
	return tap_done();
}
