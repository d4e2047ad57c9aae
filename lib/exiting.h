/*
 * exiting.h - commands that have let go of their guard, and are still on their way out.
 */
#ifndef FLKI_EXITING_H
#define FLKI_EXITING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Its exit has begun, and it may still have descriptors; false where /proc does not tell. */
bool flki_is_exiting(pid_t pid);

/* Sleeps until that is no longer so, but not past that time. */
void flki_await_exit(pid_t pid, uint64_t until_ns);

#endif
