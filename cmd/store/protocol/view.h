/* SPDX-License-Identifier: ISC */
/*
 * view.h - a limiter of a store as it stood at one moment, whatever engine keeps it.
 *
 * Entries are holders by ticket, then waiters by ticket.  Times are those of the takers' own
 * clocks, for people to read; no decision depends on them.
 */
#ifndef VIEW_H
#define VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

#define STORE_SELF 17 /* a taker's name in the store: 16 hexadecimal digits, and the end */
#define STORE_HOST 65

struct view_entry {
	char self[STORE_SELF];
	char host[STORE_HOST];
	uint64_t ticket;
	uint32_t weight, limit, seat;
	uint32_t pid, uid;
	int64_t since_ms; /* of the epoch: when it began to wait, or to hold */
	bool holds;
	bool suspect; /* it holds, but nothing shows that it is alive */
	enum flk_role role;
	uint64_t fence;
	uint32_t share;
	char command[FLK_COMMAND];
	char key[FLK_KEY];
};

/* Of permits that were released. */
struct tally {
	uint64_t released;
	struct flk_times waited, held;
};

struct view {
	struct flk_settings set; /* declared 0: no taker ever declared a limit */
	struct tally tally;
	uint64_t next_start_ns; /* as in struct flk_snapshot: CLOCK_MONOTONIC */
	uint64_t capacity;      /* of a ramp; 0: it has none */
	bool there;             /* the store keeps anything under that name */
	size_t holders, waiters;
	struct view_entry entry[];
};

/* The sum of the holders' weights, as each of them counts: see room.h. */
uint64_t view_used(const struct view *v);

/* The limit in force: the override, or the smallest declared by a holder or the head. */
uint32_t view_limit(const struct view *v);

/*
 * The entry for people, with times by our clock: never in the future, however far the clocks
 * differ.  Slot and host are the caller's.
 */
struct flk_entry view_show(const struct view_entry *v);

#endif
