/*
 * who.h - the processes behind a permit, from /proc: for people, and for their signals.
 */
#ifndef WHO_H
#define WHO_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "flocklimit.h"

#define HEIRS 64 /* so many are told of */

/* All processes as they were at one look. */
struct crowd;
struct crowd *crowd_look(void); /* NULL: no memory */
void crowd_free(struct crowd *crowd);

/* What runs under it: the child of its flocklimit, or the taker itself; 0: not known. */
pid_t crowd_command(const struct crowd *crowd, const struct flk_entry *e);

/* The taker or what it runs is stopped, by a signal or a debugger. */
bool crowd_is_stopped(const struct crowd *crowd, const struct flk_entry *e);

/* "sleep 100", as the process itself has it by now; "" where that can't be seen. */
const char *command_of(pid_t pid, char *room, size_t size);

/* 1: the process has this file open; 0: it has not; else -errno. */
int has_open(pid_t pid, const struct stat *file);

/* Who has it open, of those that can be seen, and but us. */
size_t who_has_open(const struct stat *file, pid_t *pid, size_t room);

#endif
