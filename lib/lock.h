/* SPDX-License-Identifier: ISC */
/*
 * lock.h - the region's robust, process-shared mutex: the one lock of a limiter file.
 *
 * It guards the header from `declared' on, every list, and every transition of a slot from or to
 * WAITING or HELD.  layout.h lists what is read without it, and why that is harmless.
 *
 * Its word names its owner by slot and generation, and a taker that finds the lock taken looks at
 * the `alive' of that slot.  What corresponds to the parts of a robust pthread_mutex_t:
 *
 *	EOWNERDEAD			INHERITED: the new owner rebuilds the index from the slots
 *	pthread_mutex_consistent()	nothing: a lock that is inherited again is repaired again
 *	ENOTRECOVERABLE			`damaged' in the header: the slots contradict each other;
 *					calls fail with -FLK_DAMAGED until a flk_repair()
 *	EPERM from the unlock		false from flki_lock_drop(): another taker has inherited it
 *	(nothing)			STUCK: the owner lives, and does not leave
 *
 * It is not a pthread_mutex_t, for four reasons:
 *
 * - Thread ids repeat between PID namespaces.  The kernel and the C library know the owner of a
 *   robust mutex by its thread id.  Where two containers share a limiter, the death of a thread in
 *   one can mark a mutex that a living thread of the other has locked.  (Measured: a third process
 *   got EOWNERDEAD while the owner was inside, and then the owner's unlock failed with EPERM.)
 * - Programs of musl and of glibc share the file, and they lay out a pthread_mutex_t differently.
 * - A taker registers with the kernel once: its `alive', which also shows its death to waiters.  A
 *   robust mutex goes on the thread's robust list at each lock, and off it at each unlock.
 * - A second death, during the repair, needs no care.  The dead repairer is one more dead owner:
 *   the next taker inherits the lock, and starts the same rebuild from the same slots.
 *
 * What it costs: a compare-and-swap to take it and another to drop it, and no system call while no
 * other taker wants it.  A taker that finds it taken reads the owner's `alive', spins for a moment,
 * and then sleeps.  The lock has no order of its own, because the order of the line is made inside,
 * by tickets.  It has no priority inheritance.  And the kernel wakes no sleeper when the owner
 * dies, so each sleep is a nap: 2 ms, or 100 ms after the first 2 s.
 */
#ifndef FLKI_LOCK_H
#define FLKI_LOCK_H

#include "file.h"

enum lock_result {
	LOCKED,
	INHERITED, /* locked, but the last owner died inside: the caller rebuilds the index */
	STUCK      /* not locked: the owner stays inside, as it is stopped or gets no CPU time */
};

/* What a taker remembers of the owner that keeps it out, from one call to the next. */
struct patience {
	uint64_t owner; /* its mark */
	unsigned naps;  /* how many the taker has slept through while that owner was inside */
};

/*
 * The lock's word, without the bit for sleepers, while that generation of the slot's owner is
 * inside.
 */
static inline uint64_t
flki_lock_mark(uint32_t slot, uint32_t gen)
{
	return (uint64_t)gen << 32 | (uint64_t)(slot + 1) << 1;
}

/*
 * `mark' is the caller's, which has its slot's `alive'.  STUCK after 2 s in which one owner stayed
 * inside; with the same patience again, after a tenth of a second more; and soon after `until'
 * (CLOCK_MONOTONIC).
 */
enum lock_result flki_lock_take(struct file *f, uint64_t mark, struct patience *p, uint64_t until);

/* False, and nothing is changed, if the lock is not the caller's any more. */
bool flki_lock_drop(struct header *h, uint64_t mark);

/* Gives the present owner a moment to leave.  False if it stays, or died inside. */
bool flki_lock_is_left(const struct header *h);

/* The slot of the owner, or NIL. */
uint32_t flki_lock_owner(const struct header *h);

#endif
