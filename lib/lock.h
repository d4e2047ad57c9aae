/*
 * lock.h - the one lock of a limiter file.  It guards the header from `declared' on, every list,
 * and every transition of a slot from or to WAITING or HELD.
 */
#ifndef FLKI_LOCK_H
#define FLKI_LOCK_H

#include "file.h"

enum lock_result {
	LOCKED,
	INHERITED, /* locked, but the last owner died inside: rebuild the index */
	STUCK      /* the owner stays inside: it is stopped, or gets no CPU time */
};

/* What a taker knows of the owner that keeps it out; from one call to the next. */
struct patience {
	uint64_t owner; /* by its mark */
	unsigned naps;  /* while that one was inside */
};

/* What the lock's word is while the taker that claimed this slot, as this generation, is inside. */
static inline uint64_t
flki_lock_mark(uint32_t slot, uint32_t gen)
{
	return (uint64_t)gen << 32 | (uint64_t)(slot + 1) << 1;
}

/*
 * mark: the caller's; it has its slot's `alive'.  STUCK after 2 s of one owner's, and when called
 * again with the same patience, after a tenth of a second more; or soon after `until' (monotonic).
 */
enum lock_result flki_lock_take(struct file *f, uint64_t mark, struct patience *p, uint64_t until);

/* False, and nothing is changed, if the lock is not the caller's any more. */
bool flki_lock_drop(struct header *h, uint64_t mark);

/* Gives whoever is inside now a moment to leave: false if he stays, or died there. */
bool flki_lock_is_left(const struct header *h);

/* The slot of the owner, or NIL. */
uint32_t flki_lock_owner(const struct header *h);

#endif
