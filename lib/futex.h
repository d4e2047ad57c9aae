/*
 * futex.h - sleeping on words in shared memory.  Deadlines are absolute, CLOCK_MONOTONIC, in ns.
 */
#ifndef FLKI_FUTEX_H
#define FLKI_FUTEX_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#define FUTEX_MAX_WORDS 128 /* of one sleep: the kernel's limit */

struct futex_word { /* the kernel's struct futex_waitv */
	uint64_t value;
	uint64_t address;
	uint32_t flags;
	uint32_t reserved;
};

uint64_t flki_monotonic_ns(void);

/* A caller's deadline: NULL, and what is later than the clock can tell, is never. */
uint64_t flki_deadline_ns(const struct timespec *deadline);

struct futex_word flki_futex_on(const void *word, uint32_t value);

/*
 * Sleeps until somebody wakes one of the words, a signal comes, or the deadline; returns at once
 * if one has another value.  0, -EAGAIN, -EINTR, -ETIMEDOUT, or -ENOSYS: this kernel (or a
 * seccomp filter) can't watch several.
 */
int flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns);

/* The same on one word only; on every kernel. */
int flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns);

void flki_futex_wake(const void *word);
void flki_futex_wake_all(const void *word);

#endif
