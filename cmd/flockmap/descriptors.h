/* SPDX-License-Identifier: ISC */
/*
 * descriptors.h - what flockmap must have before its first command.
 */
#ifndef DESCRIPTORS_H
#define DESCRIPTORS_H

#include <stdbool.h>
#include <sys/resource.h>

/*
 * /dev/null, also as 0, 1 and 2 where these are closed: a pipe must not get such a number.  As stdout
 * it can't be written to: what commands print would be lost, and nothing would say so.
 */
int open_null(void);

/* Each running command takes five descriptors of ours.  The commands keep the limit that we had. */
void raise_files(struct rlimit *given);

bool can_wait_for_commands(void);

/* Says that there is none of these, and what to do; the status to exit with. */
int cannot_have(const char *what, int error);

#endif
