/*
 * internal.h - an open limiter, and what its parts do for each other.
 */
#ifndef FLKI_INTERNAL_H
#define FLKI_INTERNAL_H

#include <limits.h>

#include "alive.h"
#include "file.h"
#include "lock.h"
#include "robust.h"
#include "share.h"
#include "state.h"

#define ORPHANS_WATCHED 16

struct flk {
	struct file file;
	_Atomic uint32_t
	    users; /* who attached it, and each thread of orphan.c: the last frees it */
	_Atomic uint32_t stuck_pid;
	_Atomic int64_t ahead_ns; /* of our clock; INT64_MIN: not asked for yet */
	/* of the options */
	bool (*stuck)(void *context, pid_t pid);
	void (*inside)(void *context, bool is_inside);
	void *context;
	/* Tickets of the orphans that a thread of ours waits for, 0 for none: orphan.c. */
	_Atomic uint64_t watched[ORPHANS_WATCHED];
	_Atomic uint64_t watcher; /* whose threads these are, by flki_robust_process() */
	char path[];
};

struct flk_taker {
	struct flk *flk;
	_Atomic uint32_t slot; /* ours, with its `alive'; NIL before the first use */
	uint32_t gen;          /* of our claim to it */
	uint32_t tid;          /* of the thread that made it */
	uint64_t thread;       /* the same, by flki_robust_me(): true whatever the file says */
	uint64_t process;      /* that thread's, by flki_robust_process() */
	struct patience patience;
	_Atomic bool cancelled, interrupted;
	int waited_for;  /* what the last wait returned */
	int guard_fd;    /* -1: none */
	bool guard_lent; /* by flk_guard_by(): it is not ours to close */
};

static inline struct slot *
taker_slot(const struct flk_taker *t)
{
	return &t->flk->file.slots[t->slot];
}

/* By the file's words: the kernel has not marked it, nor has anybody claimed it since. */
static inline bool
taker_has_slot(const struct flk_taker *t)
{
	return flki_alive_is_of(&taker_slot(t)->alive, t->tid) &&
	       atomic_load(&taker_slot(t)->gen) == t->gen;
}

/* It has a slot, and neither another thread has it nor, in a child, the parent. */
static inline bool
taker_is_ours(const struct flk_taker *t)
{
	return t->slot != NIL && t->thread == flki_robust_me();
}

/* It has a slot that is not ours, or is not by what the file says. */
static inline bool
taker_is_strange(const struct flk_taker *t)
{
	return t->slot != NIL && !(taker_is_ours(t) && taker_has_slot(t));
}

/*
 * enter.c: a slot of the taker's own, and the lock with the state as this taker sees it.
 * flki_enter() claims a slot if the taker has none, and rebuilds the index if the lock's last owner
 * died, or the index is doubted.  After its 0 comes one flki_quit(), which returns -FLK_DAMAGED if
 * the file lied meanwhile, and -FLK_MISTAKEN if the taker lost the lock while it was inside: then it
 * is not known what became of what it did.
 */
int flki_enter(struct flk_taker *t, struct state *st);

/*
 * The same, but while the lock is stuck it waits until that time, or as long as the options'
 * stuck() says; with NOT_LONG, for 2 s.  flki_enter() has NOT_LONG if there is no stuck().  Signals
 * that `mask' leaves unblocked are let in meanwhile, unless it is NULL; and flk_cancel() ends it.
 */
#define NOT_LONG UINT64_C(0)
#define AT_ONCE  UINT64_C(1) /* long past: after a tenth of a second */
static inline uint64_t
flki_as_asked(const struct flk *f)
{
	return f->stuck != NULL ? UINT64_MAX : NOT_LONG;
}
int flki_enter_until(struct flk_taker *t, struct state *st, uint64_t until, const sigset_t *mask);

/* Leaves the slot as a killed taker does: the next owner of the lock takes back what it had. */
void flki_abandon(struct flk_taker *t);

/* After -FLK_STUCK of a wait with that deadline: what its caller hears. */
int flki_kept_out(struct flk_taker *t, uint64_t until);

int flki_enter_anyway(struct flk_taker *t, struct state *st); /* damaged or dead, too */
int flki_quit(struct flk_taker *t, struct state *st);
int flki_leave_lock(struct flk_taker *t,
		    struct state *st); /* flki_quit(), if nothing was changed */
void flki_drop_slot(struct flk_taker *t);

/*
 * timens.c: by how much our clock is ahead of the machine's, and 0 where the system can't tell.
 * The first call asks the system, so it is no call for inside the lock.
 */
int64_t flki_clock_ahead(struct flk *f);

/* history.c: wakes those who follow it; inside the lock, so that a killed one is followed up. */
void flki_history_tell(struct header *h);

/* guard.c: the byte that a command keeps locked for its dead wrapper.  Ask orphan.c, too. */
bool flki_guard_is_free(const struct flk *f, uint32_t slot);
void flki_guard_drop(struct flk_taker *t);

/*
 * orphan.c: does a command still keep this permit, by its guard or because it is on its way out?
 * When it no longer does, flki_orphan_watch() wakes the head of the line.  False if it can't, or
 * watches as many as it can.
 */
bool flki_orphan_is(struct flk *f, uint32_t slot);
bool flki_orphan_note(struct flk *f, uint32_t slot); /* inside the lock: the wait for it begins */
bool flki_orphan_watch(struct flk *f, uint32_t slot, uint64_t ticket);

#endif
