/*
 * where.h - what depends on where limiters are kept: in files of this machine, or in a store.
 *
 * flocklimitctl has the one (cmd/flocklimitctl/where.c), a store's program the other.
 */
#ifndef WHERE_H
#define WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "flocklimit.h"

/* A store keeps no history and counts nothing, and who holds may be on another machine. */
bool where_is_store(void);

/* What just failed may go better later: the store could not be reached. */
bool where_is_away(void);

/* The names of all limiters, sorted, for where_forget(); or a negative code. */
int where_names(char ***name, size_t *n);
void where_forget(char **name, size_t n);

/* Why that failed: a sentence that names the place. */
const char *where_trouble(void);

/* What this machine calls itself; NULL where nobody knows of others. */
const char *where_am_i(void);

/* On which machine it happened; NULL: on this one, or where nobody knows of others. */
const char *where_happened(struct flk *f, const struct flk_event *e);

/*
 * 1: the process, which may be the taker or what runs under its permit, belongs to this limiter;
 * 0: its pid has become another's; or -errno.
 */
int where_belongs(struct flk *f, const struct flk_entry *e, pid_t pid);

/* That process, a child of the taker's, is the one that works under the permit. */
bool where_works(const struct flk_entry *e, pid_t pid);

/* Takes the permit away from whoever holds it; -FLK_NOPERMIT if nobody does. */
int where_break(struct flk *f, uint64_t ticket);

#endif
