/* SPDX-License-Identifier: ISC */
/*
 * futex.h - sleeping on words in shared memory.  Deadlines are absolute, CLOCK_MONOTONIC, in ns.
 */
#ifndef FLKI_FUTEX_H
#define FLKI_FUTEX_H

#include <stdint.h>

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

void flki_futex_wake(const void *word);
void flki_futex_wake_all(const void *word);

#endif
