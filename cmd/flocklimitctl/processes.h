/* SPDX-License-Identifier: ISC */
/*
 * processes.h - the processes that hold a permit, from /proc: to be shown, and to be signalled.
 */
#ifndef PROCESSES_H
#define PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "flocklimit.h"

#define HEIRS 64 /* so many processes that keep a permit are shown */

/* All processes as they were when they were read. */
struct processes;
struct processes *processes_read(void); /* NULL: no memory */
void processes_free(struct processes *all);

/*
 * The process that works under the permit: flocklimit's child, or the taker itself; 0: not known.
 */
pid_t processes_command(const struct processes *all, const struct flk_entry *e);

/* How the taker or its command is suspended: "stopped", "frozen"; NULL: it is not. */
const char *processes_suspended(const struct processes *all, const struct flk_entry *e);

/* Other processes that have the file open, as far as we may see them. */
size_t processes_with_open(const struct stat *file, pid_t *pid, size_t room);

#endif
