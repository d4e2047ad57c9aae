/* SPDX-License-Identifier: ISC */
/*
 * tend.h - what a process that waits for a command does for the command's permit meanwhile.
 *
 * As backend.h, it has two implementations.  A limiter file needs next to nothing of the kind:
 * tend_local.c.  In a store's program the wrapper sees to it that the permit has a keeper, and ends
 * the command in the permit's last moment if the keeper does not.
 */
#ifndef TEND_H
#define TEND_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

/* Print only the lines that must be printed. */
void tend_quiet(bool quiet);

/*
 * No command runs yet: while we wait for the store, this mask lets signals through, which may end
 * us; the keeper then tidies up.  NULL: from now on no signal is let through.
 */
void tend_open(const sigset_t *mask);

/*
 * From here on SIGURG says that tend_look() has work, in a thread that has no descriptors to poll.
 */
void tend_by_signal(void);

/* True if that signal is such a SIGURG, and not for the command. */
bool tend_hears(const siginfo_t *info);

/* The same by a descriptor to poll for input, where this thread has one taker only; -1: none. */
int tend_fd(void);

/* Tends this thread's takers; returns when to call it again (CLOCK_MONOTONIC, ns; NEVER). */
uint64_t tend_look(void);

/* The caller has closed its stdio and left its terminal: the keeper does the same. */
void tend_hush(void);

/* The command that spawn() has started has the permit, as its pid. */
void tend_working(struct flk_taker *t, pid_t pid);

/* The permit is for this process, which is not our child: tend it as a command of ours. */
void tend_for(struct flk_taker *t, pid_t pid, int pidfd);

/* The permit's key in the store. */
const char *tend_key(const struct flk_taker *t);

/*
 * For a message: which line the taker is or was in, with a space before it; "" for the usual one.
 */
const char *tend_line(const struct flk_taker *t);

/* After -FLK_EVICTED: the machine from which the taker was cancelled; NULL: this one. */
const char *tend_evictor(const struct flk_taker *t);

/* The permit was lost, and the command was ended because of that. */
bool tend_lost(struct flk_taker *t);

#endif
