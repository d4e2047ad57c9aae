/* SPDX-License-Identifier: ISC */
/*
 * world.h - a place of our own to measure in, of which nothing is left afterwards.
 */
#ifndef BENCH_WORLD_H
#define BENCH_WORLD_H

#include <stdint.h>
#include <stdio.h>

#define PATH_SIZE 512

extern FILE *report; /* where the tables go */

/*
 * Makes a directory on /dev/shm, and one on the disk, and forks.  Returns only in the child, with nothing but
 * /dev/null to read and to print to, stderr in a file, and limiters in that directory.  The
 * parent waits for it, or for a signal; then it kills whatever was started and is still there,
 * removes the directories, and exits.
 */
void world_begin(void);

/* DIRECTORY/name; a static copy per call site is the caller's. */
char *world_path(char path[PATH_SIZE], const char *name);

/* The same on a disk: in /var/tmp. */
char *world_disk_path(char path[PATH_SIZE], const char *name);

/* What the commands wrote to stderr: it should be nothing.  Returns how many bytes. */
long world_complaints(FILE *to);

void die(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

uint64_t now_ns(void);

#endif
