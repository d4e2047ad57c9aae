/* SPDX-License-Identifier: ISC */
/*
 * alive.h - is the owner of a slot alive?
 *
 * An owner takes its slot's word for as long as it lives.  When the owner's thread ends, by
 * whatever means, the kernel marks the word and wakes one taker that sleeps on it.  A taker learns
 * whether another one lives by one load: no system call, no process id that could be reused, no
 * namespace.
 */
#ifndef FLKI_ALIVE_H
#define FLKI_ALIVE_H

#include <sys/types.h>

#include "layout.h"

/*
 * To be called before flki_alive_take(): 0, -ENOMEM, -FLK_NOROBUST, or -FLK_CROWDED if this thread
 * has as many words as the kernel looks at when a thread dies.  A caller that then takes no word
 * calls flki_alive_unprepare().
 */
int flki_alive_prepare(void);
void flki_alive_unprepare(void);

/* True if the word was free, or its owner dead: it is now this thread's. */
bool flki_alive_take(struct alive *a);
void flki_alive_drop(struct alive *a);

/* Does the file say that the thread with this id owns it? */
bool flki_alive_is_of(const struct alive *a, uint32_t tid);

bool flki_alive_is(const struct alive *a);

/*
 * The id of the thread that owns it, by the file, as that thread's PID namespace has it; 0: no
 * owner.
 */
pid_t flki_alive_tid(const struct alive *a);

/*
 * Asks the kernel to wake a sleeper on &a->word when the owner dies; *value is the value to sleep
 * on.  False if the owner is dead.  The owner takes that request back with flki_alive_unwatch(),
 * when no taker needs to watch it any more: its end then costs no wake.
 * All are called under the lock.
 */
bool flki_alive_watch(struct alive *a, uint32_t *value);
void flki_alive_unwatch(struct alive *a);

#endif
