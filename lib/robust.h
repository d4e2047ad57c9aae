/*
 * robust.h - this thread, as the kernel knows it: its id, and the list of the words that the kernel
 * marks when the thread ends.
 */
#ifndef FLKI_ROBUST_H
#define FLKI_ROBUST_H

#include "layout.h"

/* Before anything else here: 0, or why there is no list. */
int flki_robust_find(void);

/*
 * flki_robust_me() is never the same for two threads, nor for a thread and the child that it forks,
 * whatever their ids; 0 before the first flki_robust_find().
 */
uint64_t flki_robust_me(void);
uint64_t flki_robust_process(void); /* the same for processes */
uint32_t flki_robust_tid(void);

/* How many entries there are, of ours and of other copies of this library, without their marks. */
unsigned flki_robust_entries(void);

/*
 * Between these two the kernel looks at the word of `a', too, when this thread ends.
 */
void flki_robust_begin(struct alive *a);
void flki_robust_done(void);

/*
 * Puts `a' at the front of our entries; takes it away from behind `before', NULL if it is the first,
 * and from before `behind', NULL if it is the last.
 */
void flki_robust_link(struct alive *a, struct alive *behind);
void flki_robust_unlink(struct alive *before, struct alive *behind);

/* flki_robust_link() needs a place in the list, which there is until our last entry is gone. */
bool flki_robust_open(void);
void flki_robust_close(void);

/* alive.c: forgets what the parent of this process had taken. */
void flki_alive_forget(void);

#endif
