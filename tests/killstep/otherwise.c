/* SPDX-License-Identifier: ISC */
/*
 * otherwise.c - what an actor does otherwise than another process: it starts no thread, asks the kernel for
 * the time, and stops where it may sleep.
 */
#include "actor.h"

#include <errno.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "futex.h"
#include "processor.h"

/* A thread would run on beside the actor, and none of its instructions would be a step. */
int __wrap_flki_thread_start(void *(*run)(void *), void *arg, size_t stack);

int
__wrap_flki_thread_start(void *(*run)(void *), void *arg, size_t stack)
{
	(void)run;
	(void)arg;
	(void)stack;
	return -EAGAIN;
}

/*
 * The clock is the kernel's, not the vDSO's, which begins again whenever the clock was set
 * meanwhile, as each tick does: where a step takes long, no actor would come through between two.
 */
int
clock_gettime(clockid_t clock, struct timespec *t)
{
	return (int)syscall(CLOCK_CALL, clock, t);
}

/* An actor that is not stepped runs up to where it may sleep, and stops there once. */
static void
stop_before_sleep(void)
{
	if (actor_desk != NULL && !actor_desk->steps)
		STOP_HERE();
}

int __real_flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns);
int __wrap_flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns);

int
__wrap_flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns)
{
	stop_before_sleep();
	return __real_flki_futex_sleep_on(words, count, deadline_ns);
}

int __real_flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns);
int __wrap_flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns);

int
__wrap_flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns)
{
	stop_before_sleep();
	return __real_flki_futex_sleep(word, value, deadline_ns);
}

int
usleep(useconds_t us)
{
	struct timespec t = { .tv_sec = us / 1000000, .tv_nsec = (long)(us % 1000000) * 1000 };

	stop_before_sleep();
	return nanosleep(&t, NULL);
}
