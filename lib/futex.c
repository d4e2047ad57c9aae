/* SPDX-License-Identifier: ISC */
/*
 * futex.c - the three futex calls that we need.  With some C libraries the compiler does not find
 * the kernel's headers, so the numbers are here; they never change.
 */
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "clock.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* the same on every architecture */
#endif
#define WAKE        1
#define WAIT_BITSET 9 /* WAIT with an absolute deadline */
#define ANY_BIT     UINT32_MAX
#define SIZE_U32    2

struct futex_word
flki_futex_on(const void *word, uint32_t value)
{
	return (struct futex_word){ .value = value, .address = (uintptr_t)word, .flags = SIZE_U32 };
}

int
flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns)
{
	struct timespec deadline = flki_timespec(deadline_ns);

	if (syscall(SYS_futex_waitv, words, count, 0, &deadline, CLOCK_MONOTONIC) >= 0)
		return 0;
	return errno == EPERM ? -ENOSYS : -errno;
}

int
flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns)
{
	struct timespec deadline = flki_timespec(deadline_ns);

	if (syscall(FUTEX_CALL, word, WAIT_BITSET, value, &deadline, NULL, ANY_BIT) >= 0)
		return 0;
	return -errno;
}

void
flki_futex_wake(const void *word)
{
	syscall(FUTEX_CALL, word, WAKE, 1, NULL, NULL, 0);
}

void
flki_futex_wake_all(const void *word)
{
	syscall(FUTEX_CALL, word, WAKE, INT_MAX, NULL, NULL, 0);
}
