/* SPDX-License-Identifier: ISC */
/*
 * hold.c - a taker that holds.  The life that it shares proves that it is alive: see life.h.
 */
#include "taker.h"

#include <stdio.h>
#include <string.h>

#include "kind.h"

#define OWN_NS (SECOND / 5) /* most commands that end earlier need no watch */

/*
 * On one machine, the number of its CPUs is a good limit.  In a store, the CPUs of the machine that
 * happened to come first are hardly what the user meant for all of them.
 */
static void
warn_of_first(struct fleet_taker *t)
{
	char text[FLEET_TEXT];

	if (!t->first)
		return;
	t->first = false;
	snprintf(text, sizeof(text),
		 "the limiter is new and no -n was given: its limit on all machines is now %u, the "
		 "number of CPUs of this one; use -n to set it",
		 t->want.fallback);
	taker_note(t, text);
}

static void
report_held(struct fleet_taker *t)
{
	enum fleet_kind kind = t->reported ? FLEET_RENEWED : FLEET_GRANTED;
	struct key h = taker_key(t, 'h');

	t->reported = t->held = true;
	warn_of_first(t);
	taker_report(t, &(struct fleet_event){ .kind = kind,
					       .ticket = t->ticket,
					       .fence = look_fence(t->held_since, t->permit.seat),
					       .weight = t->want.weight,
					       .limit = t->permit.under,
					       .seat = t->permit.seat,
					       .alive_ns = t->fleet->life.alive_ns,
					       .key = h.s });
}

void
hold_begin(struct fleet_taker *t, int64_t held_since, const struct record *r)
{
	t->held_since = held_since;
	t->permit = *r;
	t->want.weight = r->weight;
	if (r->ticket != 0)
		t->ticket = r->ticket;
	t->checked = 0;
	t->own_ns = flki_boottime_ns() + OWN_NS;
	t->reported = t->asked = false;
	t->adopted = false;
	seen_is_old(t->fleet, held_since);
	taker_hush(t, DEAD);
	look_free(&t->look);
	repair_free(&t->suspects);
	watching_end(t, WATCH_ALL);
	taker_go(t, HOLDING);
}

/*
 * If l/ was put after the permit was granted, the permit may have been taken back before: then a check
 * must have found it.
 */
static bool
is_sure(const struct fleet_taker *t)
{
	const struct life *life = &t->fleet->life;

	return life->state == LIFE_SHOWN &&
	       (life->shown <= t->held_since || life->shown <= t->checked);
}

/* A command must not begin by a lease that ends: act() follows the renewal. */
void
holding_act(struct fleet_taker *t)
{
	struct life *life = &t->fleet->life;

	if (t->watching[WATCH_OWN].watch == NULL && flki_boottime_ns() < t->own_ns)
		t->retry_ns = t->own_ns;
	else
		watching_own_from(t, t->held_since + 1); /* or again, if it has ended */
	if (t->reported)
		return;
	life_need(life);
	if (life_is_fresh(life) && is_sure(t))
		report_held(t);
	else
		life_beat(life);
}

void
hold_proven(struct fleet_taker *t)
{
	if (t->reported && t->fleet->life.state == LIFE_SHOWN)
		report_held(t);
	else
		holding_act(t);
}
