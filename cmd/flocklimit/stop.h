/* SPDX-License-Identifier: ISC */
/*
 * stop.h - the wrapper stops with its command.
 */
#ifndef STOP_H
#define STOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/*
 * Stops us by SIG, until somebody continues us or the command, the command ends, or the deadline comes.
 * A CONT of somebody else's is passed on to the command.  HAS_STOPPED: the command has stopped; else SIG
 * was sent to it, which a command in a session of its own ignores.
 */
void stop_with(pid_t command, bool has_stopped, int sig, uint64_t deadline);

#endif
