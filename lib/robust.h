/* SPDX-License-Identifier: ISC */
/*
 * robust.h - this thread as the kernel knows it: its id, and its robust list, of the words that the
 * kernel marks when the thread ends.
 */
#ifndef FLKI_ROBUST_H
#define FLKI_ROBUST_H

#include "layout.h"

/* To be called before everything else here: 0, or why there is no list. */
int flki_robust_find(void);

/*
 * flki_robust_me() is a number of this thread that no other thread has, nor the child that this
 * thread forks, whatever their ids are; 0 before the first flki_robust_find().
 */
uint64_t flki_robust_me(void);
uint64_t flki_robust_process(void); /* the same for processes */
uint32_t flki_robust_tid(void);

/* How many entries this and other copies of the library have in the list, without their marks. */
unsigned flki_robust_entries(void);

/* Between these two, `a' is pending: the kernel looks at it, too, when this thread ends. */
void flki_robust_begin(struct alive *a);
void flki_robust_done(void);

/*
 * Puts `a' at the front of our entries, where `behind' (or NULL) was; takes away the entry between
 * `before' (NULL: it is the first) and `behind' (NULL: it is the last).
 */
void flki_robust_link(struct alive *a, struct alive *behind);
void flki_robust_unlink(struct alive *before, struct alive *behind);

/*
 * flki_robust_link() needs our mark in the list.  flki_robust_open() puts it there if we have no
 * entry; flki_robust_close() takes it away if we have none any more.
 */
bool flki_robust_open(void);
void flki_robust_close(void);

#endif
