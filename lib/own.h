/* SPDX-License-Identifier: ISC */
/*
 * own.h - what our own commands ask of the library besides flocklimit.h.  The shared library does not
 * export it: the commands are linked with the archive.
 */
#ifndef FLKI_OWN_H
#define FLKI_OWN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct flk;
struct flk_taker;

/* The limiter directories of all users, in the order in which a user's processes look for theirs. */
typedef void flki_visits_dir(void *context, uid_t uid, const char *dir);
void flki_directories(flki_visits_dir *each, void *context);

/* Whether it was opened for reading. */
bool flki_is_reader(const struct flk *limiter);

/* Thousandths of a CPU that the cgroup of a process may use; UINT64_MAX: no quota is known. */
uint64_t flki_cpu_quota(pid_t pid);

/*
 * As flk_working(), but the working process calls it: a child of vfork(2), which shares the taker's
 * memory, before it execs.  It is then recorded however soon the taker is killed.
 */
void flki_working_child(struct flk_taker *taker);

/*
 * Finds the processes that have the descriptor of this permit's guard, and so keep an orphan's
 * permit.  Writes at most ROOM of them to PID, and returns how many; 0 in a store.  It looks through
 * all processes that /proc shows to the caller.
 */
size_t flki_heirs(struct flk *limiter, uint32_t slot, pid_t *pid, size_t room);

/*
 * 1 if the kernel confirms that this process is the taker in the slot: it has the permit's guard or,
 * if the permit has no guard, it maps the limiter's file for writing and has the thread that the slot
 * names.  Otherwise, and in a store, 0, or a negative code if /proc does not show that process.  Any
 * process that can write the file can forge the pid of an entry: before you send it a signal, open a
 * pidfd, then ask.
 */
int flki_is_taker(struct flk *limiter, uint32_t slot, pid_t pid);

#endif
