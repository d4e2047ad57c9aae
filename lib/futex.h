/* SPDX-License-Identifier: ISC */
/*
 * futex.h - sleeping on words in shared memory.  Deadlines are absolute, CLOCK_MONOTONIC, in ns.
 */
#ifndef FLKI_FUTEX_H
#define FLKI_FUTEX_H

#include <stdint.h>
#include <sys/syscall.h>

/*
 * With 32-bit pointers SYS_futex takes a struct timespec of 32-bit words, which ours is not.  The
 * other call, futex_time64, is there since Linux 5.1, and has the same number on every such
 * architecture.
 */
#if UINTPTR_MAX > UINT32_MAX
#define FUTEX_CALL SYS_futex
#else
#define FUTEX_CALL 422
#endif

#define FUTEX_MAX_WORDS 128 /* of one sleep: the kernel's limit */

struct futex_word { /* the kernel's struct futex_waitv */
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

struct futex_word flki_futex_on(const void *word, uint32_t value);

/*
 * Sleeps until another thread wakes one of the words, a signal comes, or the deadline has passed;
 * returns at once if one of them has another value.  0, -EAGAIN, -EINTR, -ETIMEDOUT, or -ENOSYS:
 * this kernel, or a seccomp filter, does not allow a sleep on several words.
 */
int flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns);

/* The same on one word, which every kernel can do. */
int flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns);

/* A futex has 32 bits: of a word of 64, it is the low half. */
static inline const void *
flki_futex_half(const _Atomic uint64_t *word)
{
	return (const char *)(uintptr_t)word + (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 4 : 0);
}

void flki_futex_wake(const void *word);
void flki_futex_wake_all(const void *word);

#endif
