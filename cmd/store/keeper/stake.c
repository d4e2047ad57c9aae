/* SPDX-License-Identifier: ISC */
/*
 * stake.c - see stake.h.
 */
#include "stake.h"

#include <stdlib.h>
#include <sys/queue.h>

#include "clock.h"
#include "host/ledger.h"
#include "keeper_taker.h"
#include "now.h"
#include "settings.h"

#define LINGER SECOND /* for what the fleet still sends the store after a release */

struct stake {
	SLIST_ENTRY(stake) entry; /* without an owner */
	struct keeper_taker *owner;
	struct fleet_taker *taker;
	struct ledger_row *row;
	bool ended;        /* the store has nothing of it any more */
	uint64_t until_ns; /* without an owner: a keeper without takers stays no longer for it */
};

static SLIST_HEAD(all_parted, stake) parted;

void
stakes_begin(void)
{
	SLIST_INIT(&parted);
}

static void
strike_out(struct stake *s)
{
	ledger_remove(s->row);
	s->row = NULL;
}

/* What the wrapper hears of an end is after the end of the row: what it asks for next has another. */
static void
on_event(void *context, const struct fleet_event *e)
{
	struct stake *s = context;

	switch (e->kind) {
	case FLEET_REFUSED:
	case FLEET_LOST:
	case FLEET_LEFT:
	case FLEET_RELEASED:
		s->ended = true;
		strike_out(s);
		s->until_ns = flki_boottime_ns() + LINGER;
		break;
	default:
		break;
	}
	if (s->owner != NULL)
		keeper_taker_on_event(s->owner, e);
}

struct stake *
stake_new(struct keeper_taker *k, struct fleet *fleet, const char self[STORE_SELF],
	  struct ledger_row *row)
{
	struct stake *s = calloc(1, sizeof(*s));

	if (s == NULL)
		return NULL;
	s->owner = k;
	s->row = row;
	if (fleet_taker_new(&s->taker, fleet, self, on_event, s) == 0)
		return s;
	free(s);
	return NULL;
}

struct fleet_taker *
stake_taker(const struct stake *s)
{
	return s->taker;
}

struct ledger_row *
stake_row(const struct stake *s)
{
	return s->row;
}

/* After ttl and grace others take back what the store has of a keeper that is gone. */
void
stake_part(struct stake *s)
{
	s->owner = NULL;
	if (!s->ended)
		s->until_ns =
		    flki_boottime_ns() + ((uint64_t)settings.ttl_s + settings.grace_s) * SECOND;
	SLIST_INSERT_HEAD(&parted, s, entry);
}

void
stake_give_up(struct stake *s)
{
	fleet_taker_free(s->taker);
	strike_out(s);
	free(s);
}

uint64_t
stakes_step(uint64_t now, bool idle)
{
	struct stake *s, *after;
	uint64_t next = UINT64_MAX;

	for (s = SLIST_FIRST(&parted); s != NULL; s = after) {
		after = SLIST_NEXT(s, entry);
		if (s->ended && (idle || s->until_ns <= now)) {
			SLIST_REMOVE(&parted, s, stake, entry);
			stake_give_up(s);
		} else if (s->until_ns > now) {
			next = earlier(next, s->until_ns);
		}
	}
	return next;
}

bool
stakes_any(uint64_t now)
{
	const struct stake *s;

	SLIST_FOREACH(s, &parted, entry)
		if (s->until_ns > now)
			return true;
	return false;
}
