/* SPDX-License-Identifier: ISC */
/*
 * where.h - what depends, for an operator, on where limiters are kept: in files of this machine, or
 * in a store.
 *
 * As backend.h, it has two implementations: cmd/flocklimitctl/where_local.c, and a store program's.  A
 * store keeps no history and counts nothing, and its holders may be on another machine.
 */
#ifndef WHERE_H
#define WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

/* The last failure may pass: the store could not be reached. */
bool where_is_away(void);

/* The names of all limiters, sorted, for where_forget(); or a negative code. */
int where_names(char ***name, size_t *n);
void where_forget(char **name, size_t n);

/* Why where_names() failed: a sentence that names the directory or the store. */
const char *where_trouble(void);

/* This machine's name; NULL where limiters are of one machine only. */
const char *where_am_i(void);

/* The machine that the event happened on; NULL: this one, or limiters are of one machine only. */
const char *where_happened(struct flk *f, const struct flk_event *e);

/*
 * Whether the process, a taker or the command under its permit, is still the one that the entry
 * means: 1; 0: another process has that pid by now; or -errno.
 */
int where_belongs(struct flk *f, const struct flk_entry *e, pid_t pid);

/* Whether that process, a child of the taker, works under the permit. */
bool where_works(const struct flk_entry *e, pid_t pid);

/* Takes the permit away from its holder; -FLK_NOPERMIT: no holder has this ticket. */
int where_break(struct flk *f, uint64_t ticket);

/* As flk_discard(), flk_order() and flk_orders(). */
int where_discard(const char *name);
int where_order(unsigned which, const struct flk_settings *to);
int where_orders(struct flk_settings *orders);

#endif
