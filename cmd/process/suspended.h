/* SPDX-License-Identifier: ISC */
/*
 * suspended.h - whether a process does not go on until somebody lets it, and how to.
 */
#ifndef SUSPENDED_H
#define SUSPENDED_H

#include <sys/types.h>

#define REMEDY_TEXT 540

/*
 * "stopped", "stopped by a debugger" or "frozen", with a cgroup around it; NULL: it is none of these.
 * The remedy is "kill -CONT 4711" or "thaw the cgroup /sys/fs/cgroup/batch".
 */
const char *process_suspended(pid_t pid, char remedy[REMEDY_TEXT]);

#endif
