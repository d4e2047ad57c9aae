/* SPDX-License-Identifier: ISC */
/*
 * shell.h - a line for the shell that we run for an answer.  It is no command under a permit.
 */
#ifndef SHELL_H
#define SHELL_H

#include <signal.h>
#include <stdint.h>
#include <sys/types.h>

struct heritage;

struct shell {
	pid_t pid;
	int pidfd; /* -1: none can be had */
};

/* `sh -c LINE', with ITEM as $1 unless it is NULL: 0, or an errno value, and nothing runs. */
int shell_start(struct shell *s, const char *line, char *item, const struct heritage *h);

/*
 * Sleeps until the shell has ended, though its children may live; or there is something to read from
 * OUT, unless that is -1; or it is late, by this time or because a signal came that the mask lets in.
 */
enum shell_news { SHELL_ENDED, SHELL_OUTPUT, SHELL_LATE };
enum shell_news shell_await(const struct shell *s, int out, uint64_t until, const sigset_t *mask);

/* Waits for its end; the status of wait(2). */
int shell_end(struct shell *s);

#endif
