/* SPDX-License-Identifier: ISC */
/*
 * detach.h - detaches a process from all of its parent but some descriptors, and stderr for lines.
 */
#ifndef DETACH_H
#define DETACH_H

#include <stdbool.h>

/* In a child: sets fds to where these descriptors are now; false: it can't.  quiet: closes stderr, too. */
bool detach(int *fds, int n, bool quiet);

/* Closes stderr (opens /dev/null there). */
void detach_stderr(void);

/* A line on stderr that does not wait for a reader. */
void detach_say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
