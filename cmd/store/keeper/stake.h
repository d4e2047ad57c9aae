/* SPDX-License-Identifier: ISC */
/*
 * stake.h - what a keeper's taker has in the store: a place, a permit, or less, by a taker of the fleet.
 *
 * A stake outlives its keeper's taker.  A release that the store does not answer is tried again for as long
 * as this keeper lives: others take nothing back from a keeper that lives, so what it left there would stay.
 * And a stake that has ended lingers, as the fleet may still have something to tidy up.
 */
#ifndef STAKE_H
#define STAKE_H

#include "host/board.h"
#include "talk.h"
#include "protocol/fleet.h"

struct keeper_taker;
struct stake;

/* At a keeper's beginning: there are none. */
void stakes_begin(void);

/* NULL: no memory.  Its events go to keeper_taker_on_event().  row: the stake's from now on, or NULL. */
struct stake *stake_new(struct keeper_taker *k, struct fleet *fleet, const char self[STORE_SELF],
			struct ledger_row *row);

struct fleet_taker *stake_taker(const struct stake *s);

/* What a successor will know of it; NULL: it has ended, or there is no ledger. */
struct ledger_row *stake_row(const struct stake *s);

/* Nobody hears of it any more, and stakes_step() frees it.  It was released, or its place left. */
void stake_part(struct stake *s);

/* Frees it now, and the store hears nothing: it is another keeper's. */
void stake_give_up(struct stake *s);

/*
 * Frees those whose time has come; idle: the store has nothing to do.  Returns when to call it again
 * (CLOCK_BOOTTIME, ns).
 */
uint64_t stakes_step(uint64_t now_ns, bool idle);

/* There are some for which a keeper without takers stays. */
bool stakes_any(uint64_t now_ns);

#endif
