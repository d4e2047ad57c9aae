/* SPDX-License-Identifier: ISC */
/*
 * claim.c - from nothing to a permit or a place, in two round trips: a lease and, beside it, a
 * look; then the claim, which is one txn.
 *
 * The claim grants if, since the look, no operator set another limit or state, no taker entered the
 * line and no permit was granted.  Permits may have ended since: it fits all the more.  If any of
 * this fails, the same txn makes the claim a place in the line, which no other taker can contest.
 */
#include "taker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"

#define AT_ONCE 3 /* so many claims may meet others' before the taker pauses in between */

static bool
may_wait(const struct fleet_taker *t)
{
	return !t->want.no_wait && (!t->want.limit_queue || t->look.in_line < t->want.max_queue);
}

static void
no_room(struct fleet_taker *t)
{
	taker_refuse(t, t->want.no_wait ? -EAGAIN : -FLK_FULL, NULL);
}

/* ---- the look ---- */

static void
decide(struct fleet_taker *t)
{
	const struct flk_settings *c = &t->look.config;

	if (c->closed) {
		taker_refuse(t, -FLK_CLOSED, NULL);
	} else if (t->want.weight > taker_limit(t, c)) {
		taker_refuse(t, -FLK_HEAVY, NULL);
	} else {
		t->fitted = t->look.in_line == 0 && taker_fits(t);
		if (t->fitted || may_wait(t))
			taker_go(t, CLAIMING);
		else if (t->look.in_line == 0 && reclaim_any(t))
			taker_go(t, MARKING);
		else
			no_room(t);
	}
}

static void
looked(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	if (!look_read(&t->look, LOOK_FIRST, reply)) {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
		return;
	}
	t->looked = true;
	taker_act(t);
}

/* A taker that must not wait may need the look alone; it then drops the lease. */
void
asking_act(struct fleet_taker *t)
{
	if (t->leased && !taker_is_fresh(t))
		taker_drop_lease(t);
	if (!t->leased)
		lease_ask(t);
	if (!t->looked)
		taker_txn(t, MAIN, look_txn(&t->fleet->limiter, LOOK_FIRST, t->self, 0), looked);
	if (t->leased && t->looked) {
		t->looked = false;
		decide(t);
	}
}

/* ---- the dead ---- */

void
marking_act(struct fleet_taker *t)
{
	if (reclaim_act(t))
		return;
	if (t->freed_some) {
		t->freed_some = false;
		taker_go(t, ASKING);
	} else {
		no_room(t);
	}
}

/* ---- the claim ---- */

static void
add_compares(const struct fleet_taker *t, struct txn *x)
{
	struct key w = key_of(&t->fleet->limiter, 'w', NULL),
		   h = key_of(&t->fleet->limiter, 'h', NULL);
	struct key w_end = key_end(&w), h_end = key_end(&h);

	txn_if_changed(x, t->fleet->limiter.s, t->look.config_mod);
	txn_if_absent(x, w.s, w_end.s);
	txn_if_no_news(x, h.s, h_end.s, t->look.revision);
}

/*
 * Its place, the taker that came last before it, and how the limiter is steered then.  A range over
 * all waiters would cost the server more, the longer the line is.
 */
enum { PLACE, LAST, LAST_NOW, MINE, STEERED, IN_LINE };

/* False for want of memory. */
static bool
add_place(const struct fleet_taker *t, struct txn *x)
{
	struct key tail = key_tail(&t->fleet->limiter);
	struct key mine = taker_key(t, 'w'), w = key_of(&t->fleet->limiter, 'w', NULL);
	struct key end = key_end(&w);
	char *record = taker_record(t, false);
	struct txn_item *in_line;

	if (record == NULL)
		return false;
	txn_put(x, mine.s, record, strlen(record), t->lease);
	txn_get(x, tail.s, NULL);
	txn_put(x, tail.s, t->self, strlen(t->self), t->lease);
	txn_get(x, mine.s, NULL)->keys_only = true;
	txn_get(x, t->fleet->limiter.s, NULL);
	if (t->want.limit_queue) {
		in_line = txn_get(x, w.s, end.s);
		in_line->keys_only = true;
		in_line->limit = 1;
	}
	free(record);
	return true;
}

/* The taker that came last may be gone by now: a look finds that out. */
static void
read_last(struct look *l, struct records_found last)
{
	l->before[0] = '\0';
	if (last.n > 0 && last.kv[0].value_size == STORE_SELF - 1 &&
	    key_is_self(last.kv[0].value)) {
		memcpy(l->before, last.kv[0].value, STORE_SELF);
		l->before_created = last.kv[0].changed;
	}
}

static void
queued(struct fleet_taker *t, const struct records_answer *reply)
{
	struct records_found mine = records_found(reply, MINE);

	t->created = mine.n > 0 ? mine.kv[0].created : 0;
	if (t->created == 0) {
		t->open_claim = true;
		taker_go(t, RECONCILE);
		return;
	}
	/* The count includes the taker itself. */
	if (t->want.limit_queue && records_found(reply, IN_LINE).count > t->want.max_queue) {
		taker_move(t, LOOKING);
		leave_begin(t, FLEET_REFUSED, -FLK_FULL);
		return;
	}
	t->ticket = (uint64_t)t->created;
	lease_keep(t);
	if (!look_read_config(&t->look, records_found(reply, STEERED))) {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
		return;
	}
	if (t->look.config.closed) {
		taker_move(t, LOOKING);
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
		return;
	}
	t->before[0] = '\0';
	read_last(&t->look, records_found(reply, LAST));
	/* The first waiter needs no other look if nothing changed in between. */
	if (t->look.before[0] != '\0' || t->look.in_line > 0 || t->fitted ||
	    reply->revision != t->look.revision + 1) {
		taker_go(t, LOOKING);
	} else {
		t->look.revision = t->look.read = reply->revision;
		line_settle(t, FIRST);
	}
	taker_report(t, &(struct fleet_event){ .kind = FLEET_QUEUED, .ticket = t->ticket });
}

static void
claimed(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result == RECORDS_NOLEASE) {
		taker_drop_lease(t);
		taker_go(t, ASKING);
	} else if (reply->result != RECORDS_OK) {
		t->open_claim = true;
		taker_go(t, RECONCILE);
	} else if (t->fitted && reply->held) {
		t->created = 0;
		t->ticket = (uint64_t)reply->revision;
		hold_begin(t, reply->revision, reply->revision, true);
	} else if (!t->fitted || may_wait(t)) {
		queued(t, reply);
	} else {
		/*
		 * Others came first, and the taker must not wait: it looks again whether it would
		 * have to.
		 */
		taker_move(t, ASKING);
		if (++t->again < AT_ONCE)
			taker_act(t);
		else
			taker_again(t);
	}
}

void
claiming_act(struct fleet_taker *t)
{
	struct txn *x;
	bool good = true;

	if (t->slot[MAIN].call != NULL)
		return;
	x = txn_new();
	if (t->fitted) {
		t->created = 0;
		add_compares(t, x);
		good = taker_add_grant(t, x);
		txn_otherwise(x);
	}
	if (may_wait(t))
		good = add_place(t, x) && good;
	if (!good) {
		txn_free(x);
		taker_again(t);
		return;
	}
	taker_txn(t, MAIN, x, claimed);
}
