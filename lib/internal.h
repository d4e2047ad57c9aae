/* SPDX-License-Identifier: ISC */
/*
 * internal.h - an open limiter file, and what the parts of its implementation do for each other.
 *
 * The files of this folder lie on three floors.  A file calls its own floor and those below it.
 * There is one exception: a thread of orphan.c keeps the limiter open.
 *
 * API: the functions of flocklimit.h
 *	api ops local share		the table of functions behind a handle, and this machine's
 *	setting				the numbers that an operator sets
 *	acquire await map error		what works for both kinds of limiters
 *	own				what our own commands ask besides
 *	limiter reader copy		opening and closing; one that is only read, by copies
 *	slot inside			a taker's slot; in and out of the lock, and struct world
 *	taker wait watch		a taker's life, its wait in the line, what it sleeps on
 *	look				its look at the machine
 *	permit				what a permit is, and what its owner says of it
 *	entrust				permits that have no taker any more
 *	steer snapshot discard		what operators do, and see
 *	history				reading events
 *
 * kernel: what the system is needed for, one idea in each file
 *	futex robust alive lock		words in shared memory: sleep, life, mutual exclusion
 *	file create space filesystem	the file: opened, created, given disk space, known by
 *	directory boot orders		where it is, of which boot, and the orders for new ones
 *	guard orphan exiting heirs	a permit that outlives its taker, and its processes
 *	cpus measure cgroup		the machine's CPUs, what it has left, and its cgroups
 *	timens thread			the clock of a time namespace; threads of our own
 *	bytelock descriptor pidfd	headers alone, each around one thing of the system
 *	cancel clock name proc program
 *
 * pure state: what takers do to the words of the file, without a system call
 *	layout				the file
 *	state index pace gate		the operations, the lists and sums, the times, the gate
 *	condition			the words of a gate
 *	room				what is left for a waiter, and so whether it fits
 *	request				what a taker asks for, and where it stands in the line
 *	fair				the turns of keys, where a limiter is fair
 *	seats				which seats a permit has
 *	repair check			the rebuild and the invariants
 *	record				recording events
 */
#ifndef FLKI_INTERNAL_H
#define FLKI_INTERNAL_H

#include "alive.h"
#include "file.h"
#include "local.h"
#include "lock.h"
#include "robust.h"
#include "share.h"
#include "state.h"

#define ORPHANS_WATCHED 16

/* Its users are the caller that attached it, what shares it, and each thread of orphan.c. */
struct flk {
	struct flk_base base; /* first: see ops.h */
	struct file file;
	_Atomic uint32_t stuck_pid;
	_Atomic int64_t ahead_ns; /* flki_clock_ahead(); INT64_MIN: not asked for yet */
	/* of the options */
	bool (*stuck)(void *context, pid_t pid);
	void (*inside)(void *context, bool is_inside);
	void *context;
	/* Tickets of the orphans that threads of this process wait for; 0: none.  See orphan.c. */
	_Atomic uint64_t watched[ORPHANS_WATCHED];
	_Atomic uint64_t watcher; /* the process of these threads, by flki_robust_process() */
	char path[];
};

struct flk_taker {
	struct flk *flk;       /* first: see ops.h */
	_Atomic uint32_t slot; /* ours, with its `alive'; NIL before the first use */
	uint32_t gen;          /* the slot's, since we claimed it */
	uint32_t tid;          /* of the thread that made it */
	uint64_t thread;       /* the same by flki_robust_me(), whatever the file says */
	uint64_t process;      /* the thread's, by flki_robust_process() */
	struct patience patience;
	/* True or false, in words: riscv64 exchanges a byte only with the help of libatomic. */
	_Atomic uint32_t cancelled, interrupted;
	int waited_for;              /* what the last wait returned */
	int guard_fd;                /* -1: none */
	bool guard_lent;             /* by flk_guard_by(): its caller closes it */
	uint64_t guarded_ns;         /* since when it has a guard, by CLOCK_BOOTTIME */
	struct reading reading;      /* for its next visit to the lock */
	struct pressures *pressures; /* NULL until a gate asks for pressure */
	uint64_t asked_ns;           /* when its own question was answered; 0: not in this wait */
	bool yes;                    /* and how */
	uint64_t gated; /* the last ticket for which it recorded that the gate keeps it */
};

static inline struct slot *
taker_slot(const struct flk_taker *t)
{
	return &t->flk->file.slots[t->slot];
}

/*
 * What the file says: the kernel has not marked its `alive', and no taker has claimed the slot
 * since.
 */
static inline bool
taker_has_slot(const struct flk_taker *t)
{
	return flki_alive_is_of(&taker_slot(t)->alive, t->tid) &&
	       atomic_load(&taker_slot(t)->gen) == t->gen;
}

/* It has a slot, and that belongs neither to another thread nor, in a child, to the parent. */
static inline bool
taker_is_ours(const struct flk_taker *t)
{
	return t->slot != NIL && t->thread == flki_robust_me();
}

/* It has a slot that is not ours, or that the file says is not. */
static inline bool
taker_is_strange(const struct flk_taker *t)
{
	return t->slot != NIL && !(taker_is_ours(t) && taker_has_slot(t));
}

static inline uint32_t
state_of(const struct slot *s)
{
	return atomic_load_explicit(&s->state, memory_order_acquire);
}

/* Read without the lock: an operator may make it less, by flk_shrink(). */
static inline uint32_t
weight_of(const struct slot *s)
{
	return __atomic_load_n(&s->weight, __ATOMIC_RELAXED);
}

/* 0 if the taker is the caller's, and holds a permit of so many units at least. */
static inline int
check_held(const struct flk_taker *t, uint32_t units)
{
	if (t->slot == NIL)
		return -FLK_NOPERMIT;
	if (taker_is_strange(t))
		return -FLK_STRANGER;
	if (state_of(taker_slot(t)) != HELD)
		return -FLK_NOPERMIT;
	return units > weight_of(taker_slot(t)) ? -FLK_OVERRELEASE : 0;
}

/*
 * slot.c: a slot of the taker's own.  flki_slot_claim() is for a taker without one.
 * flki_slot_abandon() leaves the slot as a killed taker does: the next owner of the lock takes back
 * the place or the permit.
 */
int flki_slot_claim(struct flk_taker *t);
void flki_slot_drop(struct flk_taker *t);
void flki_slot_abandon(struct flk_taker *t);

/*
 * inside.c: the lock, with the state as this taker sees it.  flki_enter() claims a slot if the
 * taker has none, and rebuilds the index if the lock's last owner died, or the index is doubted.
 * After its 0 comes one flki_quit(), which returns -FLK_DAMAGED if the file turned out to lie, and
 * -FLK_MISTAKEN if the taker lost the lock while it was inside: its change may have been made, or
 * not.
 */
int flki_enter(struct flk_taker *t, struct state *st);

/*
 * The same, but while the lock is stuck the taker waits until `until', or as long as the options'
 * stuck() returns true; with NOT_LONG, for 2 s.  flki_enter() is that with NOT_LONG, if there is no
 * stuck().  Unless `mask' is NULL, the taker lets in the signals that it leaves unblocked.
 * flk_cancel() and flk_interrupt() end the wait.
 */
#define NOT_LONG UINT64_C(0)
#define AT_ONCE  UINT64_C(1) /* a time long past: it gives up after a tenth of a second */
static inline uint64_t
flki_as_asked(const struct flk *f)
{
	return f->stuck != NULL ? UINT64_MAX : NOT_LONG;
}
int flki_enter_until(struct flk_taker *t, struct state *st, uint64_t until, const sigset_t *mask);

/* After -FLK_STUCK in a wait with that deadline: the code that the wait returns. */
int flki_kept_out(struct flk_taker *t, uint64_t until);

int flki_enter_anyway(struct flk_taker *t, struct state *st); /* even if damaged or dead */
int flki_quit(struct flk_taker *t, struct state *st);
/* flki_quit(), if nothing was changed. */
int flki_leave_lock(struct flk_taker *t, struct state *st);

/*
 * look.c: flki_look() measures what the gate, which is set, asks for, for the taker's next visit to
 * the lock; hasty: of a taker that will not wait.  flki_gate_condition() says by the last reading
 * what keeps slot s, the head; called inside the lock.  An answer to a taker's own question counts for
 * FLKI_ASK_NS, and then it is asked again.
 */
#define FLKI_ASK_NS (UINT64_C(5) * 1000000000)
void flki_look(struct flk_taker *t, bool hasty);
void flki_gate_condition(const struct state *st, const struct slot *s, struct flk_gated *gated);

/*
 * permit.c: a copy of what the owner of slot s waits for elsewhere; empty: nothing.
 * flki_note_start() writes down when the command was started that keeps the permit, and in which PID
 * namespace; both times 0: it keeps none.
 */
void flki_waits_for(const struct slot *s, char text[FLK_WAITS_FOR]);
void flki_note_start(struct slot *s, uint64_t after_ns, uint64_t before_ns);

/* snapshot.c: of a state that is the caller's own. */
int flki_snapshot_of(struct state *st, struct flk_snapshot **snapshot, uint32_t usual);

/* steer.c: what the header says; also without the lock, and then each number by itself. */
void flki_settings_read(const struct header *h, struct flk_settings *s);

/*
 * timens.c: by how many ns our clock is ahead of the machine's; 0 where the system does not say.
 * The first call asks the system, so it is not made inside the lock.
 */
int64_t flki_clock_ahead(struct flk *f);

/*
 * history.c: wakes its followers.  Called inside the lock: if the caller is killed before the wake,
 * the next owner of the lock makes up for it.
 */
void flki_history_wake(struct header *h);

/* guard.c: the byte that a command keeps locked for its dead wrapper.  orphan.c has more to ask. */
bool flki_guard_is_free(const struct flk *f, uint32_t slot);
void flki_guard_drop(struct flk_taker *t);
/* heirs.c: has the description of this descriptor the lock of one of these n slots' guards? */
bool flki_guard_locks(int fd, uint32_t slot, uint32_t n);

/*
 * orphan.c: does a command still keep this permit of a dead taker, by its guard or because it is on
 * its way out?  flki_orphan_note() is the same for a caller inside the lock: it also writes down
 * when the wait for the command's end began.  flki_orphan_watch() wakes the head when the command
 * keeps the permit no longer; false if it can't, or watches as many orphans as it can.
 */
bool flki_orphan_is(struct flk *f, uint32_t slot);
bool flki_orphan_note(struct flk *f, uint32_t slot);
bool flki_orphan_watch(struct flk *f, uint32_t slot, uint64_t ticket);

#endif
