/*
 * tend.h - what those who wait for a command do for its permit meanwhile.  A limiter of this machine
 * needs next to nothing of the kind, and here it is all but empty; in a store's program the wrapper sees to it
 * that the permit has a keeper, and ends the command in its last moment if the keeper does not.
 */
#ifndef TEND_H
#define TEND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

#ifdef FLK_IN_STORE

/* Limiters are elsewhere: each command makes something of its own there, at a round trip or more. */
static inline bool
tend_is_remote(void)
{
	return true;
}

/* No lines but what must be said. */
void tend_quiet(bool quiet);
bool tend_is_quiet(void);

/*
 * Nothing runs yet: while the store is waited for, signals come through by this mask, and may end us;
 * the keeper tidies up.  NULL: none comes through any more.
 */
void tend_open(const sigset_t *mask);

/* From here on SIGURG tells of what there is to look at, in the thread that has no other loop. */
void tend_by_signal(void);

/* True if that signal is one of these, and nobody else's. */
bool tend_hears(const siginfo_t *info);

/* The same by a descriptor to be polled for input, of this thread's only taker; -1: none. */
int tend_fd(void);

/* Looks after this thread's takers; when it must be let look again (CLOCK_MONOTONIC, ns). */
uint64_t tend_look(void);

/* The caller has let go of its stdio and terminal, and so shall we. */
void tend_hush(void);

/* The permit is for a process that is no child: what is due to a command is due to that. */
void tend_for(struct flk_taker *t, pid_t pid, int pidfd);

/* The permit's key in the store. */
const char *tend_key(const struct flk_taker *t);

/* In whose line it stands, or stood, for people: nothing, or with a space before it. */
const char *tend_line(const struct flk_taker *t);

/* After -FLK_EVICTED: the machine of who did it; NULL: this one. */
const char *tend_evictor(const struct flk_taker *t);

/* It was lost, and its command ended for that. */
bool tend_lost(struct flk_taker *t);

/* For the store's own: what tend_open() said; that taker has another socket now. */
const sigset_t *tend_mask(void);
void tend_tied(const struct flk_taker *t);

#else

static inline bool
tend_is_remote(void)
{
	return false;
}

static inline void
tend_quiet(bool quiet)
{
	(void)quiet;
}

static inline void
tend_open(const sigset_t *mask)
{
	(void)mask;
}

static inline void
tend_by_signal(void)
{
}

static inline bool
tend_hears(const siginfo_t *info)
{
	(void)info;
	return false;
}

static inline int
tend_fd(void)
{
	return -1;
}

static inline uint64_t
tend_look(void)
{
	return UINT64_MAX;
}

static inline void
tend_hush(void)
{
}

/* No command inherits this guard, but by it an operator tells a keeper from a forged one. */
static inline void
tend_for(struct flk_taker *t, pid_t pid, int pidfd)
{
	int fd;

	(void)pid;
	(void)pidfd;
	flk_guard(t, &fd);
}

static inline const char *
tend_line(const struct flk_taker *t)
{
	(void)t;
	return "";
}

static inline const char *
tend_evictor(const struct flk_taker *t)
{
	(void)t;
	return NULL;
}

static inline bool
tend_lost(struct flk_taker *t)
{
	(void)t;
	return false;
}

static inline const char *
tend_key(const struct flk_taker *t)
{
	(void)t;
	return NULL;
}

#endif

#endif
