/* SPDX-License-Identifier: ISC */
/*
 * process.h - what /proc says of a process; and closing descriptors.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

/* The state letter and the parent, from /proc; false if they can't be had. */
bool process_stat(pid_t pid, char *state, pid_t *parent);

/* One child of the process; 0: it has none, or we may not see them. */
pid_t process_child(pid_t pid);

/* Closes that descriptor and all above. */
void process_close_from(int first);

/* Whether a signal or a debugger has stopped it. */
bool process_is_stopped(pid_t pid);

#endif
