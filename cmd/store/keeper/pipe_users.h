/* SPDX-License-Identifier: ISC */
/*
 * pipe_users.h - the processes that have a pipe open, as far as /proc shows them to the caller.
 */
#ifndef PIPE_USERS_H
#define PIPE_USERS_H

#include <sys/types.h>

/* Sends the signal to each process that has the pipe open, except the caller and `spared'. */
void pipe_users_signal(int pipe, pid_t spared, int sig);

#endif
