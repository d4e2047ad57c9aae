/* SPDX-License-Identifier: ISC */
/*
 * line.c - a waiter: it waits for h/, which the taker that makes room writes for it, and sees to what
 * stands before it.
 *
 * Each waiter watches the next living one before it.  If that one's life ends, the waiter reads the line,
 * takes back the places of the dead, and finds whom to watch then.  The first of the living has no such;
 * it takes back dead holders' permits, too, and grants what nobody else has: the units of a permit that
 * was taken back, what an operator raised, and what a taker owed that died; and what a pace allows by the
 * time alone.  In a line that moves others do all of this, and it has a permit before it has begun: so it
 * begins after a while, but for a pace.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "now.h"
#include "protocol/room.h"
#include "records/retry.h"

#define LOOK_AGAIN (40 * SECOND) /* a safety net, not a poll */
#define FIRST_LOOK SECOND        /* of one that nobody is before */

static void
look_in(struct fleet_taker *t, uint64_t ns)
{
	t->look_ns = flki_boottime_ns() + retry_spread(ns);
}

void
line_stand(struct fleet_taker *t)
{
	look_in(t, t->before[0] != '\0' ? LOOK_AGAIN : FIRST_LOOK);
	watching_end(t, WATCH_ALL);
	watching_line(t, t->look.revision + 1);
	taker_go(t, BEHIND);
}

bool
line_is_alone(const struct fleet_taker *t)
{
	return t->fleet->store->manual || starts_are_paced(&t->look.config.pace);
}

void
line_first(struct fleet_taker *t)
{
	watching_end(t, WATCH_LINE);
	look_in(t, LOOK_AGAIN);
	taker_go(t, FIRST);
}

void
behind_act(struct fleet_taker *t)
{
	if (t->watching[WATCH_LINE].watch == NULL || t->watching[WATCH_LINE].ended)
		taker_go(t, LOOKING);
	else
		repair_act(t, false);
}

/* ---- looking ---- */

/* The next living one before it; false: there is none. */
static bool
find_before(struct fleet_taker *t, const struct look_taker *mine)
{
	const struct look *l = &t->look;
	const struct look_taker *w;

	for (w = mine; w > l->waiter; w--)
		if (strcmp(w[-1].record.life, mine->record.life) == 0 || look_is_alive(l, &w[-1])) {
			memcpy(t->before, w[-1].self, STORE_SELF);
			memcpy(t->before_life, w[-1].record.life, STORE_SELF);
			t->before_created = w[-1].created;
			return true;
		}
	t->before[0] = '\0';
	return false;
}

/* The look by which it decides must be no older than the first change that its watch reports. */
static bool
is_covered(const struct fleet_taker *t)
{
	const struct taker_watching *w = &t->watching[WATCH_ALL];

	return w->watch != NULL && !w->ended && w->from != 0 && w->from <= t->look.revision + 1 &&
	       t->heard <= t->look.revision;
}

static void
settle(struct fleet_taker *t)
{
	const struct look_taker *mine = look_waiter(&t->look, t->self);

	if (mine == NULL || mine->created != t->created) {
		taker_go(t, RECONCILE);
	} else if (t->look.config.closed) {
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	} else if (find_before(t, mine)) {
		line_stand(t);
	} else if (is_covered(t)) {
		line_first(t);
	} else if (t->watching[WATCH_ALL].from != 0) {
		taker_go(t, LOOKING);
	} else {
		watching_all(t); /* when it has begun, it looks again */
	}
}

static void
looked(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK)
		taker_again(t);
	else if (look_read(&t->look, LOOK_LIVES, a))
		settle(t);
	else
		leave_begin(t, FLEET_REFUSED, -FLK_STORE);
}

/* Nothing has changed: it goes on watching, if it has missed nothing while it looked. */
static void
stay(struct fleet_taker *t, int64_t known)
{
	/* A store that counts from an earlier revision has begun anew, and tells that watch nothing. */
	if (!watching_goes_on(t) || t->look.revision < known) {
		line_stand(t);
	} else if (t->heard > t->look.revision) {
		taker_go(t, LOOKING);
	} else {
		look_in(t, LOOK_AGAIN);
		watching_end(t, WATCH_ALL);
		taker_go(t, BEHIND);
	}
}

/* Whether the waiter before it still waits, and is alive. */
static void
stands(struct fleet_taker *t, const struct records_answer *a)
{
	const int64_t known = t->look.revision;

	if (a->result != RECORDS_OK) {
		taker_again(t);
	} else if (!a->held) {
		looked(t, a);
	} else if (!look_read(&t->look, LOOK_NEW, a)) {
		leave_begin(t, FLEET_REFUSED, -FLK_STORE);
	} else if (t->look.config.closed) {
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	} else if (strcmp(t->before_life, t->fleet->life.name) != 0 &&
		   look_life(&t->look, t->before_life) == NULL) {
		t->before[0] = '\0';
		taker_go(t, LOOKING);
	} else {
		stay(t, known);
	}
}

/* The server's work for all of the line grows with it: so as long as nothing has changed, not all. */
static void
look_at_before(struct fleet_taker *t)
{
	const struct key *p = &t->fleet->limiter;
	struct key mine = taker_key(t, 'w'), before = key_of(p, 'w', t->before);
	struct key life = key_of(p, 'l', t->before_life), life_end = key_end(&life);
	struct txn *x = txn_new();

	txn_if_created(x, mine.s, t->created);
	txn_if_created(x, before.s, t->before_created);
	look_add_steering(x, p);
	txn_get(x, life.s, life_end.s)->keys_only = true;
	txn_otherwise(x);
	look_add(x, p, LOOK_LIVES);
	taker_txn(t, MAIN, x, stands);
}

void
looking_act(struct fleet_taker *t)
{
	if (t->slot[MAIN].call != NULL)
		return;
	t->heard = 0;
	if (t->before[0] != '\0' && !repair_any(t, false)) {
		look_at_before(t);
		return;
	}
	watching_all(t);
	taker_txn(t, MAIN, look_txn(&t->fleet->limiter, LOOK_LIVES), looked);
}

/* ---- the first ---- */

static void
plan(struct fleet_taker *t, struct round *r)
{
	round_plan(r, &t->look, t->self, false, fleet_operations(t->fleet, &t->look));
}

/* Nobody wakes it when a quarantine ends. */
static void
look_after_quarantine(struct fleet_taker *t)
{
	uint64_t until = fleet_quarantine(t->fleet, &t->look);

	if (until != 0)
		t->look_ns = earlier(t->look_ns, until);
}

/* Nor when a pace allows the next start, which by now it may do. */
static void
wait_for_pace(struct fleet_taker *t, const struct round *r)
{
	const struct flk_pace *pace = &t->look.config.pace;
	struct room room = { .set = &t->look.config, .starts = &t->look.starts };
	const struct record *next;
	uint64_t due;
	uint32_t under;

	if (r->stopped == NULL || !starts_are_paced(pace))
		return;
	next = &r->stopped->record;
	look_fill(&t->look, &room, NULL);
	due = starts_due(pace, &t->look.starts, &room, next->weight);
	if (room_fits(&room, next->weight, room_own(next->limit, r->declared, next->under), &under))
		due = 0;
	if (t->look.config.fair == FLK_FAIR_OFF)
		t->retry_ns = earlier(t->retry_ns, due);
	else
		t->look_ns = earlier(t->look_ns, due); /* another one may be the next by then */
}

/* It hears of no other waiter, of which one may be the next in a fair limiter, and fit where it does not. */
static void
look_at_others(struct fleet_taker *t)
{
	if (t->look.config.fair != FLK_FAIR_OFF && look_has_room(&t->look))
		t->look_ns = earlier(t->look_ns, flki_boottime_ns() + FIRST_LOOK);
}

void
first_act(struct fleet_taker *t)
{
	struct round r;

	if (t->look.config.closed) {
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
		return;
	}
	plan(t, &r);
	if (r.n > 0) {
		/* A permit on an ending lease would be lost at once: act() follows the renewal. */
		if (round_gives(&r, t->self) != NULL && !life_is_fresh(&t->fleet->life))
			life_beat(&t->fleet->life);
		else
			taker_go(t, GRANTING);
	} else if (t->watching[WATCH_ALL].watch == NULL) {
		/* It has just come: others make room, and grant, if they may. */
		t->before[0] = '\0';
		if (line_is_alone(t))
			taker_go(t, LOOKING);
		else
			line_stand(t);
	} else {
		look_after_quarantine(t);
		wait_for_pace(t, &r);
		look_at_others(t);
		repair_act(t, true);
	}
}

static void
granted(struct fleet_taker *t, const struct records_answer *a)
{
	bool goes_on;

	if (a->result != RECORDS_OK) {
		taker_go(t, RECONCILE);
		return;
	}
	t->before[0] = '\0';
	if (!a->held || !t->gives_mine) {
		taker_go(t, LOOKING);
		return;
	}
	goes_on = round_goes_on(&t->gives_end, a);
	hold_begin(t, a->revision, &t->gives);
	if (goes_on)
		round_run(t->fleet, NULL);
}

/* Its look may change before the answer: so what it gives itself is kept. */
void
granting_act(struct fleet_taker *t)
{
	const struct record *mine;
	struct round r;
	struct txn *x;

	if (t->slot[MAIN].call != NULL)
		return;
	plan(t, &r);
	if (r.n == 0) { /* the watch has said why */
		taker_go(t, LOOKING);
		return;
	}
	mine = round_gives(&r, t->self);
	t->gives_mine = mine != NULL;
	if (mine != NULL)
		t->gives = *mine;
	t->gives_end = r.end;
	x = txn_new();
	round_add_compares(&r, x);
	round_add_grants(&r, x);
	taker_txn(t, MAIN, x, granted);
}
