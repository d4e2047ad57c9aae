/* SPDX-License-Identifier: ISC */
/*
 * detach.h - a process that has nothing of its parent's but one socket, and its stderr for lines.
 */
#ifndef DETACH_H
#define DETACH_H

#include <stdbool.h>

/* In a child: returns where the socket is now, or -1.  quiet: not even stderr. */
int detach(int socket, bool quiet);

/* Lets go of stderr. */
void detach_stderr(void);

/* A line on stderr that does not wait for a reader. */
void detach_say(const char *limiter, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
