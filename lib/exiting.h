/* SPDX-License-Identifier: ISC */
/*
 * exiting.h - commands without a guard: does such a command run, or is it in the middle of its exit?
 */
#ifndef FLKI_EXITING_H
#define FLKI_EXITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * ENDED: also where /proc does not say.  EXITS: its exit has begun, and it may still have
 * descriptors.  *start_ns is when it was started, by CLOCK_BOOTTIME, in whole ticks of /proc.
 * PID 0: this process, also where /proc shows another PID namespace, in which another process has
 * our number.
 */
enum flki_life { ENDED, EXITS, RUNS };
enum flki_life flki_life_of(pid_t pid, uint64_t *start_ns);

static inline bool
flki_is_exiting(pid_t pid)
{
	uint64_t start;

	return flki_life_of(pid, &start) == EXITS;
}

/* It runs, and was started between these two times: it is not another process with its number. */
bool flki_runs_since(pid_t pid, uint64_t after_ns, uint64_t before_ns);

/* The PID namespace in which this process has its number; 0: /proc does not say. */
uint32_t flki_pid_namespace(void);

/* Sleeps until flki_is_exiting() is false, or until that time. */
void flki_await_exit(pid_t pid, uint64_t until_ns);
/* Sleeps while flki_runs_since(), and until the exit is over. */
void flki_await_end(pid_t pid, uint64_t after_ns, uint64_t before_ns);

#endif
