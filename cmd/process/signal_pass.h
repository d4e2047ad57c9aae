/* SPDX-License-Identifier: ISC */
/*
 * signal_pass.h - passing signals on to the command.
 */
#ifndef SIGNAL_PASS_H
#define SIGNAL_PASS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Sends the command, which must not have been reaped, this signal that came to us, unless the
 * command has had it already.  True: the terminal has stopped our process group, which the command
 * has left, and the caller must stop itself as well.
 */
bool signal_pass_on(pid_t command, const siginfo_t *info);

/* Sends it in any case. */
void signal_pass(pid_t pid, const siginfo_t *info);

#endif
