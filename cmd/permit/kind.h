/* SPDX-License-Identifier: ISC */
/*
 * kind.h - where the limiters of a program are kept: in files of this machine, or in a store.
 *
 * A program's kind is `here'.  It is for what comes before there is an open
 * limiter, and for what flocklimit.h does not have; with an open limiter the commands use that, whose
 * functions know the kind by the limiter.  A member is NULL where the kind has nothing to do.
 */
#ifndef KIND_H
#define KIND_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/types.h>

#include "flocklimit.h"
#include "now.h"
#include "store_codes.h"

struct taker_options;

/* What a process that waits for a command does for the command's permit meanwhile. */
struct tending {
	/* Print only the lines that must be printed. */
	void (*quiet)(bool quiet);

	/*
	 * No command runs yet: while we wait for the store, this mask lets signals through, which may
	 * end us; the keeper then tidies up.  NULL: from now on no signal is let through.
	 */
	void (*open)(const sigset_t *mask);

	/*
	 * From here on SIGURG says that look() has work, in a thread that has no descriptors to poll.
	 * hears(): that signal is such a SIGURG, and not for the command.
	 */
	void (*by_signal)(void);
	bool (*hears)(const siginfo_t *info);

	/* The same by a descriptor to poll for input, where this thread has one taker only; -1: none. */
	int (*fd)(void);

	/* Tends this thread's takers; returns when to call it again (CLOCK_MONOTONIC, ns; NEVER). */
	uint64_t (*look)(void);

	/* The caller has closed its stdio and left its terminal: the keeper does the same. */
	void (*hush)(void);

	/* The command that spawn() has started has the permit, as its pid.  As flk_working(). */
	int (*working)(struct flk_taker *t, pid_t pid);

	/* The permit was lost, and the command was ended because of that. */
	bool (*lost)(struct flk_taker *t);

	/* The permit's key in the store. */
	const char *(*key)(const struct flk_taker *t);

	/* For a message: which line the taker is or was in, with a space before it. */
	const char *(*line)(const struct flk_taker *t);

	/* After -FLK_EVICTED: the machine from which the taker was cancelled; NULL: this one. */
	const char *(*evictor)(const struct flk_taker *t);
};

/* What an operator's program needs. */
struct operating {
	/* The names of all limiters, sorted, for kind_forget(); or a negative code. */
	int (*names)(char ***name, size_t *n);

	/* Why names() failed: a sentence that names the directory or the store; and may that pass? */
	const char *(*trouble)(void);
	bool (*is_away)(void);

	/* This machine's name; the machine that the event happened on, NULL: this one. */
	const char *(*machine)(void);
	const char *(*happened)(struct flk *f, const struct flk_event *e);

	/*
	 * Whether the process, a taker or the command under its permit, is still the one that the entry
	 * means: 1; 0: another process has that pid by now; or -errno.
	 */
	int (*belongs)(struct flk *f, const struct flk_entry *e, pid_t pid);

	/* Whether that process, a child of the taker, works under the permit. */
	bool (*works)(const struct flk_entry *e, pid_t pid);

	/* Takes the permit away from its holder; -FLK_NOPERMIT: no holder has this ticket. */
	int (*take_away)(struct flk *f, uint64_t ticket);

	/* As flk_discard(), flk_order() and flk_orders(). */
	int (*discard)(const char *name);
	int (*order)(unsigned which, const struct flk_settings *to);
	int (*orders)(struct flk_settings *orders);

	/* Prints what makes the store ready for its first use, or runs it; returns the status to exit with. */
	int (*setup)(bool apply);
};

struct kind {
	bool is_file; /* a limiter's path names a file; else it is a store's URL */

	/*
	 * Reads what the options and the environment say of the store.  -1: go on; else the status to
	 * exit with, after a line.
	 */
	int (*choose)(const struct taker_options *w, char **argv);

	/* As flk_attach(), flk_locate(), flk_strerror() and flk_map_new(). */
	int (*attach)(struct flk **limiter, const char *name, const struct flk_options *options);
	int (*locate)(const char *name, char *path, size_t size);
	const char *(*strerror)(int code);
	int (*map_new)(struct flk_map **map, const char *name, const struct flk_map_options *o);

	/*
	 * What a taker declares for the limiter, when it takes.  NULL: that is done by flk_set(), before.
	 */
	void (*declares)(struct flk *limiter, unsigned which, const struct flk_settings *to);

	/* The permit is for this process, which is not our child: keep it as a command's. */
	void (*keep_for)(struct flk_taker *t, pid_t pid, int pidfd);

	const struct tending *tending;
	const struct operating *operating; /* of flocklimitctl alone */
};

extern const struct kind here;

static inline uint64_t
kind_look(void)
{
	return here.tending != NULL ? here.tending->look() : NEVER;
}

static inline int
kind_fd(void)
{
	return here.tending != NULL ? here.tending->fd() : -1;
}

static inline const char *
kind_key(const struct flk_taker *t)
{
	return here.tending != NULL ? here.tending->key(t) : NULL;
}

static inline const char *
kind_line(const struct flk_taker *t)
{
	return here.tending != NULL ? here.tending->line(t) : "";
}

static inline void
kind_by_signal(void)
{
	if (here.tending != NULL)
		here.tending->by_signal();
}

static inline void
kind_quiet(bool quiet)
{
	if (here.tending != NULL)
		here.tending->quiet(quiet);
}

static inline void
kind_open(const sigset_t *mask)
{
	if (here.tending != NULL)
		here.tending->open(mask);
}

static inline void
kind_working(struct flk_taker *t, pid_t pid)
{
	if (here.tending != NULL)
		here.tending->working(t, pid);
}

static inline void
kind_forget(char **name, size_t n)
{
	while (n > 0)
		free(name[--n]);
	free(name);
}

static inline const char *
kind_machine(void)
{
	return here.operating->machine != NULL ? here.operating->machine() : NULL;
}

static inline const char *
kind_happened(struct flk *f, const struct flk_event *e)
{
	return here.operating->happened != NULL ? here.operating->happened(f, e) : NULL;
}

#endif
