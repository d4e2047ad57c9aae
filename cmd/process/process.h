/* SPDX-License-Identifier: ISC */
/*
 * process.h - what the kernel says of a process, and its end; and closing descriptors.
 */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "flocklimit.h"

/* The state letter and the parent, from /proc; false if they can't be read. */
bool process_stat(pid_t pid, char *state, pid_t *parent);

/* Whether it is that process, or descends from it; false if /proc does not show it any more. */
bool process_is_below(pid_t pid, pid_t ancestor);

/* Whether more than one process without children is below that one: so many may work at once. */
bool process_branches(pid_t pid);

/* The process's command line, "sleep 100", or "./deploy now"; "" if we may not see it. */
const char *process_command(pid_t pid, char *room, size_t size);

/* Whether /proc shows that it has a descriptor of that file. */
bool process_has_open(pid_t pid, const struct stat *file);

/* Where /proc does not list the open descriptors: how many numbers there are. */
int process_most_fds(void);

/* Closes that descriptor and all above. */
void process_close_from(int first);

/* Whether the taker of this permit is dead, and its command lives. */
bool outlived(const struct flk_entry *e);

/* What a shell's $? is for this status of wait(2): the exit status, or 128 and the signal's number. */
int exit_status_of(int status);

#endif
