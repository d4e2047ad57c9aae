/*
 * futex.c - the three futex calls that we need.  The kernel's headers are not on every C
 * library's path, so its numbers stand here; they never change.
 */
#include "futex.h"

#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449 /* the same on every architecture */
#endif
#define WAKE        1
#define WAIT_BITSET 9 /* WAIT with an absolute deadline */
#define ANY_BIT     UINT32_MAX
#define SIZE_U32    2

uint64_t
flki_monotonic_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t
flki_deadline_ns(const struct timespec *t)
{
	if (t == NULL || (t->tv_sec > 0 && (uint64_t)t->tv_sec >= INT64_MAX / 1000000000))
		return UINT64_MAX;
	return t->tv_sec < 0 ? 0 : (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static struct timespec
to_timespec(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

struct futex_word
flki_futex_on(const void *word, uint32_t value)
{
	return (struct futex_word){ .value = value, .address = (uintptr_t)word, .flags = SIZE_U32 };
}

int
flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns)
{
	struct timespec deadline = to_timespec(deadline_ns);

	if (syscall(SYS_futex_waitv, words, count, 0, &deadline, CLOCK_MONOTONIC) >= 0)
		return 0;
	return errno == EPERM ? -ENOSYS : -errno;
}

int
flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns)
{
	struct timespec deadline = to_timespec(deadline_ns);

	if (syscall(SYS_futex, word, WAIT_BITSET, value, &deadline, NULL, ANY_BIT) >= 0)
		return 0;
	return -errno;
}

void
flki_futex_wake(const void *word)
{
	syscall(SYS_futex, word, WAKE, 1, NULL, NULL, 0);
}

void
flki_futex_wake_all(const void *word)
{
	syscall(SYS_futex, word, WAKE, INT_MAX, NULL, NULL, 0);
}
