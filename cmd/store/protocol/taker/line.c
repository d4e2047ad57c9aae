/* SPDX-License-Identifier: ISC */
/*
 * line.c - a waiter: it looks which waiter is before it, and grants itself a permit when it is the
 * head.
 *
 * Only the head grants, itself, and while there is a line no newcomer can: so the head only needs
 * to know what cfg says and which holders have gone.  The grant ends its place in the same txn, so
 * a waiter that has lost its place, and does not know it yet, can't grant itself a permit.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

#include "kind.h"

#define RELOOK (30 * SECOND)

/* A taker looks again after this long, whatever its watch reports; not all takers at once. */
void
line_settle(struct fleet_taker *t, enum taker_state state)
{
	t->relook_ns =
	    flki_boottime_ns() + RELOOK * 3 / 4 + (uint64_t)fleet_random_id() % (RELOOK / 2);
	taker_go(t, state);
}

/*
 * The taker may be the first now, and then it must learn at once what happens after its look: it
 * begins the watch for that beside the look.
 */
void
line_moves(struct fleet_taker *t)
{
	watch_first(t);
	taker_go(t, LOOKING);
}

/* ---- looking ---- */

static void
settle(struct fleet_taker *t)
{
	struct look *l = &t->look;

	if (!l->mine || l->created != t->created || look_find(l, t->self) != NULL) {
		taker_go(t, RECONCILE);
	} else if (t->heard > l->revision) {
		taker_go(t, LOOKING);
	} else if (l->config.closed) {
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	} else if (l->before[0] != '\0') {
		if (strcmp(t->before, l->before) != 0)
			taker_unwatch(t);
		memcpy(t->before, l->before, sizeof(t->before));
		watch_line(t, l->revision + 1);
		line_settle(t, BEHIND);
	} else {
		line_settle(t, FIRST);
	}
}

static bool
stands(struct fleet_taker *t, const struct records_answer *reply)
{
	t->look.mine = true;
	t->look.created = t->created;
	t->look.revision = reply->revision;
	return look_read_config(&t->look, records_found(reply, 0));
}

static void
looked(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK) {
		taker_again(t);
	} else if (look_same(reply) ? stands(t, reply) : look_read(&t->look, LOOK_MINE, reply)) {
		settle(t);
	} else {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
	}
}

void
looking_act(struct fleet_taker *t)
{
	if (t->slot[MAIN].call == NULL)
		t->heard = 0;
	lease_keep(t);
	taker_txn(t, MAIN,
		  t->look.before[0] != '\0'
		      ? look_txn_again(&t->look, t->self, t->created)
		      : look_txn(&t->fleet->limiter, LOOK_MINE, t->self, t->created),
		  looked);
}

void
behind_act(struct fleet_taker *t)
{
	if (t->watching != WATCH_LINE)
		taker_go(t, LOOKING);
}

/* ---- the first ---- */

void
first_act(struct fleet_taker *t)
{
	if (t->look.config.closed) {
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	} else if (!taker_fits(t)) {
		watch_first(t);
		reclaim_act(t);
	} else if (taker_is_fresh(t)) {
		taker_go(t, GRANTING);
	} else {
		/* A permit on an ending lease would be lost at once: act() follows the renewal. */
		lease_beat(t);
	}
}

static void
granted(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result == RECORDS_OK && reply->held) {
		hold_begin(t, reply->revision, reply->revision, true);
	} else if (reply->result == RECORDS_OK) {
		taker_go(t, LOOKING);
	} else {
		taker_go(t, RECONCILE);
	}
}

void
granting_act(struct fleet_taker *t)
{
	struct key w = taker_key(t, 'w');
	struct txn *x;

	if (t->slot[MAIN].call != NULL)
		return;
	x = txn_new();
	txn_if_changed(x, t->fleet->limiter.s, t->look.config_mod);
	txn_if_created(x, w.s, t->created);
	txn_delete(x, w.s, NULL);
	if (!taker_add_grant(t, x)) {
		txn_free(x);
		taker_again(t);
		return;
	}
	taker_txn(t, MAIN, x, granted);
}
