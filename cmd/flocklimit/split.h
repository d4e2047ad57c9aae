/* SPDX-License-Identifier: ISC */
/*
 * split.h - a process that takes the permit and stays, while its caller returns: what --hold-for
 * and --background share.
 *
 * The parent is the process that the caller waits for.  The child takes the permit, as a taker must
 * be the process that stays.  Until the child has let go of its parent, it ends when its parent does.
 */
#ifndef SPLIT_H
#define SPLIT_H

#include <stdbool.h>
#include <sys/types.h>

/* Prints "OPTION: WHAT: " and the words for errno; returns 125. */
int split_failed(const char *limiter, const char *option, const char *what);

/*
 * Forks: the child's pid in the parent, 0 in the child; -1 after a line.  *end is the parent's or
 * the child's end of a pipe, on which the child writes when all is well.
 */
pid_t split_fork(const char *limiter, const char *option, int *end);

/* In the parent: ends as the child did, by its signal or with its status, which it returns. */
int split_status(pid_t child);

/* In the child: from here on the parent may end.  False: it has ended. */
bool split_free(int end);

/* In the child: keeps nothing of the caller open, so that no reader waits for us; stdio becomes /dev/null. */
void split_close(void);

/* The same for a process that stays: it keeps no session and no directory of the caller busy, either. */
void split_detach(void);

#endif
