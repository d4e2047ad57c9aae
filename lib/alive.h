/*
 * alive.h - is the owner of a slot alive?
 *
 * An owner takes the word for as long as it lives; the kernel marks the word when the owner's
 * thread ends, by whatever means, and wakes one who watches it.  Asking is one load: no system
 * call, no process id that could be used again, no namespace.
 */
#ifndef FLKI_ALIVE_H
#define FLKI_ALIVE_H

#include "layout.h"

/* The kernel looks at so many of a dying thread's words: false when this thread has as many. */
bool flki_alive_room(void);

/* Before this thread's first flki_alive_take(); 0, or why there is no robust list. */
int flki_alive_init(void);

/* If the word was free, or its owner dead, it is now this thread's: returns a serial number. */
uint64_t flki_alive_take(struct alive *a);
void flki_alive_drop(struct alive *a);

/* Does this thread own it?  By the file's word; and by our own memory, whatever the file says. */
bool flki_alive_mine(const struct alive *a);
bool flki_alive_has(const struct alive *a, uint64_t serial);

bool flki_alive_is(const struct alive *a);

/*
 * Asks the kernel to wake a sleeper on &a->word when the owner dies; *value is what to sleep on.
 * False if it is dead.  Called under the lock, as is flki_alive_unwatch(), by which a living owner
 * whom nobody needs to watch any more spares them the wake.
 */
bool flki_alive_watch(struct alive *a, uint32_t *value);
void flki_alive_unwatch(struct alive *a);

#endif
