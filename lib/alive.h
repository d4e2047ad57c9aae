/*
 * alive.h - is the owner of a slot alive?
 *
 * An owner takes the word for as long as it lives; the kernel marks the word when the owner's
 * thread ends, by whatever means, and wakes one who watches it.  Asking is one load: no system
 * call, no process id that could be used again, no namespace.
 */
#ifndef FLKI_ALIVE_H
#define FLKI_ALIVE_H

#include <sys/types.h>

#include "layout.h"

/*
 * Before flki_alive_take(): 0, -ENOMEM, -FLK_NOROBUST, or -FLK_CROWDED, because the
 * kernel looks at no more of a dying thread's words than this thread has.  Where no word was
 * taken then, flki_alive_unprepare().
 */
int flki_alive_prepare(void);
void flki_alive_unprepare(void);

/* True if the word was free, or its owner dead: it is now this thread's. */
bool flki_alive_take(struct alive *a);
void flki_alive_drop(struct alive *a);

/* Does the thread with this id own it, by the file's word? */
bool flki_alive_is_of(const struct alive *a, uint32_t tid);

bool flki_alive_is(const struct alive *a);

/* The id of the thread that owns it, in that thread's PID namespace; 0: nobody does.  By the file. */
pid_t flki_alive_tid(const struct alive *a);

/*
 * Asks the kernel to wake a sleeper on &a->word when the owner dies; *value is what to sleep on.
 * False if it is dead.  Called under the lock, as is flki_alive_unwatch(), by which a living owner
 * whom nobody needs to watch any more spares them the wake.
 */
bool flki_alive_watch(struct alive *a, uint32_t *value);
void flki_alive_unwatch(struct alive *a);

#endif
