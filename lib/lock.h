/*
 * lock.h - the one lock of a limiter file.  It guards the header from `override' on, every list,
 * and every transition of a slot from or to WAITING or HELD.
 */
#ifndef FLKI_LOCK_H
#define FLKI_LOCK_H

#include "file.h"

enum lock_result {
	LOCKED,
	INHERITED, /* locked, but the last owner died inside: rebuild the index */
	STUCK      /* the owner has been inside for seconds: stopped, most likely */
};

/* me: the caller's slot, whose `alive' it has. */
enum lock_result flki_lock_take(struct file *f, uint32_t me);
void flki_lock_drop(struct header *h);

/* Gives whoever is inside now a moment to leave: false if he stays, or died there. */
bool flki_lock_is_left(const struct header *h);

/* The slot of the owner, or NIL. */
uint32_t flki_lock_owner(const struct header *h);

#endif
