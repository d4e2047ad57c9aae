/* SPDX-License-Identifier: ISC */
/*
 * stuck.h - a line for people when a taker keeps everyone out of a limiter: what to do about it.
 */
#ifndef STUCK_H
#define STUCK_H

#include <sys/types.h>

#define STUCK_TEXT 640

/*
 * "pid 4711 is stopped and keeps everyone out: kill -CONT 4711".  The pid is the one that the
 * process has in its own PID namespace; 0: not known.
 */
const char *stuck_text(pid_t pid, char room[STUCK_TEXT]);

#endif
