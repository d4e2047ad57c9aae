/* SPDX-License-Identifier: ISC */
/*
 * tree.h - --tree: the command and all that it started.
 *
 * What loses its parent becomes our child, so all of it is below us as long as we live.  Below us may
 * also be a process of our own, the follower of a jobserver, which does not count.
 */
#ifndef TREE_H
#define TREE_H

#include <stdbool.h>
#include <sys/types.h>

/* Before the command starts: 0, or an errno value if processes would be lost. */
int tree_begin(void);

/*
 * Whether /proc shows all processes: those of other users may be hidden, or it is that of another PID
 * namespace.
 */
bool tree_is_seen(void);

/* All that runs below us, but for OURS.  False if some may be missing. */
bool tree_each(pid_t ours, void (*visit)(void *context, pid_t pid), void *context);

/*
 * Sends the signal to all that runs below us, also to what is forked meanwhile, but for COMMAND itself and
 * for OURS, each of which may be 0.  SIG 0 sends nothing.  Returns how many processes there are.
 */
unsigned tree_signal(int sig, pid_t command, pid_t ours);

#endif
