/* SPDX-License-Identifier: ISC */
/*
 * room.h - the rule by which a permit is granted.  It is the same rule as that of a limiter on one machine.
 *
 * A limit is a promise to the taker that declared it.  The head becomes a holder if the sum of all
 * weights then stays within its own limit and within the limit of every holder; or, instead of all
 * these, within the operator's override.  A weight above the limit counts as the whole limit: such
 * a holder runs alone, and so can't keep up the line for ever.  A holder counts with its weight
 * also under an override that was set below that weight afterwards: no other taker gets a permit
 * beside it then.
 */
#ifndef ROOM_H
#define ROOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "flocklimit.h"

#define ROOM_SEATS 65536 /* more holders than one answer of a store can have */

struct starts;

/* What the holders leave: begun with { .set = settings }, and then each of them added. */
struct room {
	const struct flk_settings *set;
	const struct starts *starts; /* of the pace; NULL: as if there were none */
	uint64_t used;
	size_t holders;
	uint32_t least;                  /* the smallest limit of a holder; 0: none has one */
	uint64_t seats[ROOM_SEATS / 64]; /* that are taken, as bits */
};

void room_add(struct room *r, uint32_t weight, uint32_t limit, uint32_t seat);

/* The smallest seat that is free. */
uint32_t room_seat(const struct room *r);

/* The limit that is in force for a taker that declares this one; 0: none declared. */
uint32_t room_limit(const struct room *r, uint32_t limit);

/* A taker's own limit: what it declares, or else what the limiter has, or else its fallback; 0: none. */
uint32_t room_own(uint32_t limit, uint32_t declared, uint32_t fallback);

/* Whether a taker of that weight and own limit may hold beside them.  *under: the limit that it would hold under. */
bool room_fits(const struct room *r, uint32_t weight, uint32_t limit, uint32_t *under);

#endif
