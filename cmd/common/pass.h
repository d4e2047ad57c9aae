/*
 * pass.h - passing signals on to the command.
 */
#ifndef PASS_H
#define PASS_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Sends the command, which was not reaped yet, this signal that came to us, unless the command has
 * had it already.  True: the terminal has stopped our process group, in which the command is not,
 * and the caller is to stop as well.
 */
bool pass_on(pid_t command, const siginfo_t *info);

/* Sends it, whatever the process has had. */
void pass_always(pid_t pid, const siginfo_t *info);

#endif
