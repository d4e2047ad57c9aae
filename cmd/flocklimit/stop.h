/* SPDX-License-Identifier: ISC */
/*
 * stop.h - the wrapper stops with its command.
 */
#ifndef STOP_H
#define STOP_H

#include <stdint.h>
#include <sys/types.h>

/*
 * The command has stopped by SIG: so do we, until somebody continues us or the command, the command
 * ends, or the deadline comes.  A CONT of somebody else's is passed on to the command.
 */
void stop_with(pid_t command, int sig, uint64_t deadline);

#endif
