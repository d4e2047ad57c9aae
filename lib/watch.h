/* SPDX-License-Identifier: ISC */
/*
 * watch.h - what a waiter sleeps on.
 */
#ifndef FLKI_WATCH_H
#define FLKI_WATCH_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "futex.h"
#include "internal.h"

struct watch {
	struct futex_word word[FUTEX_MAX_WORDS];
	unsigned count;
	bool incomplete;  /* not all is watched that must be: the waiter looks on a tick */
	bool again;       /* one of them died since the sweep: look again at once */
	uint64_t due_ns;  /* when the pace or the gate may allow a start */
	bool first;       /* it is the head, and not the second in the line */
	bool asks;        /* it is the head, and only its own question keeps it */
	uint64_t tick_ns; /* how long it sleeps at most where the kernel can't watch */
	struct {
		uint32_t slot;
		uint64_t ticket;
	} orphan[ORPHANS_WATCHED];
	unsigned orphans;
};

/*
 * Under the lock: collects the words that taker `me' must watch.  `value' is its wake word as it was
 * before the lock was taken, so a wake that came since then ends the sleep at once.
 */
void flki_watch_all(struct state *st, struct watch *w, uint32_t me, uint32_t value);

/* Without the lock, as it starts threads. */
void flki_watch_orphans(struct flk *f, struct watch *w);

/* Until a word changes, a watched taker dies, a signal comes that `mask' lets in, or the deadline. */
void flki_watch_sleep(struct watch *w, uint64_t deadline, const sigset_t *mask);

/* Has a watched taker died?  The kernel may have woken this taker instead of another. */
bool flki_watch_saw_death(const struct watch *w);

#endif
