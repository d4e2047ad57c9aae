/* SPDX-License-Identifier: ISC */
/*
 * exiting.h - commands that have closed their guard, and are still in the middle of their exit.
 */
#ifndef FLKI_EXITING_H
#define FLKI_EXITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* True if its exit has begun, and it may still have descriptors; false where /proc does not say. */
bool flki_is_exiting(pid_t pid);

/* Sleeps until flki_is_exiting() is false, or until that time. */
void flki_await_exit(pid_t pid, uint64_t until_ns);

#endif
