/* SPDX-License-Identifier: ISC */
/*
 * lost.c - a taker that has lost its permit: it finds out why, and reports it.
 *
 * The record of a permit goes in one of four ways.  An operator breaks the permit, and leaves e/ on
 * the taker's lease.  A waiter takes the permit back when l/ has been gone for the taker's grace:
 * then the taker was silent for as long, or it would have attached again.  Somebody deletes the
 * record by hand.  Or an operator restores a backup, or puts an empty store in its place: then the
 * store's revision may be one from before the grant.
 *
 * If a copy took the store's place, such as a standby that had not all, the taker registers there again.
 */
#include "taker.h"

#include <stdio.h>

#include "kind.h"
#include "user.h"

enum { AT_E, AT_L, AT_H };

/* Whether the n-th key was there; reads its operator, unless NULL. */
static bool
was_there(const struct records_answer *reply, size_t n, struct person *by)
{
	struct records_found found = records_found(reply, n);

	if (found.n > 0 && by != NULL)
		person_decode(by, found.kv[0].value, found.kv[0].value_size);
	return found.n > 0;
}

static void
say_operator(const struct person *by, char text[FLEET_TEXT])
{
	char user[USER_TEXT];

	snprintf(text, FLEET_TEXT, "an operator took the permit back (user %s, pid %u on %s)",
		 user_text((uid_t)by->uid, user), by->pid,
		 by->host[0] != '\0' ? by->host : "an unknown host");
}

static void
say_why(const struct fleet_taker *t, const struct records_answer *reply, char text[FLEET_TEXT])
{
	uint64_t silent_ns = flki_boottime_ns() - t->fleet->life.proven_ns;

	if (reply->result == RECORDS_OK && reply->revision < t->held_since)
		snprintf(text, FLEET_TEXT,
			 "the store is older than the permit: was an older backup restored?");
	else if (was_there(reply, AT_L, NULL) || silent_ns < t->fleet->store->grace_s * SECOND)
		snprintf(text, FLEET_TEXT,
			 "the permit's record is gone from the store: somebody deleted it, or "
			 "restored an older backup");
	else
		snprintf(
		    text, FLEET_TEXT,
		    "the permit passed to another taker, as the store had heard nothing for %.1f s",
		    (double)silent_ns / 1e9);
}

void
lost_while_unkept(struct fleet_taker *t)
{
	if (t->held)
		taker_end(t,
			  &(struct fleet_event){ .kind = FLEET_LOST,
						 .ticket = t->ticket,
						 .text = "the permit passed to another taker, or "
							 "its record was deleted, while no "
							 "keeper renewed it" });
	else
		taker_refuse(t, -FLK_NOPERMIT, NULL);
}

/* ---- registering again ---- */

static void
is_registered(struct fleet_taker *t, int64_t held_since)
{
	t->held_since = held_since;
	t->claim_lease = 0;
	taker_go(t, HOLDING);
	taker_note(t, "a copy of the store lacked the permit: it is registered there again");
}

/* Without an answer it may still be done: losing_act() fences it, as a claim. */
static void
registered(struct fleet_taker *t, const struct records_answer *a)
{
	struct life *life = &t->fleet->life;

	if (a->result == RECORDS_NOLEASE) {
		life_has_lost(life, t->claim_lease);
		t->claim_lease = 0;
		taker_act(t);
	} else if (a->result != RECORDS_OK) {
		taker_again(t);
	} else if (a->held) {
		life_was_put(life, t->claim_lease, a->revision);
		is_registered(t, a->revision);
	} else {
		t->claim_lease = 0;
		taker_act(t);
	}
}

/*
 * A copy of the store has none of the permit, and nothing is granted there yet: so nobody else has it.  No
 * permit may have been granted since what was read, as the time for that may be over.
 */
static void
register_again(struct fleet_taker *t, int64_t read)
{
	struct key h = key_of(&t->fleet->limiter, 'h', NULL), end = key_end(&h);
	struct key mine = taker_key(t, 'h'), e = taker_key(t, 'e');
	struct record r = taker_record(t);
	struct txn *x;

	life_need(&t->fleet->life);
	if (!life_may_claim(&t->fleet->life))
		return; /* it acts again when there is a lease */
	r.limit = t->want.limit != 0 ? t->want.limit : t->permit.under;
	r.under = t->permit.under;
	r.seat = t->permit.seat;
	r.ticket = t->ticket;
	t->claim_lease = t->fleet->life.lease;
	x = txn_new();
	txn_if_no_news(x, h.s, end.s, read);
	txn_if_absent(x, mine.s, NULL);
	txn_if_absent(x, e.s, NULL);
	claim_add_record(t, x, 'h', &r);
	taker_txn(t, MAIN, x, registered);
}

/* ---- the reason ---- */

/* Reports the loss even without an answer: the command must not run on because we lack a reason. */
static void
reason_read(struct fleet_taker *t, const struct records_answer *reply)
{
	struct person by = { 0 };
	char text[FLEET_TEXT];
	bool evicted = was_there(reply, AT_E, &by);

	if (t->held && reply->result != RECORDS_OK && fleet_may_register(t->fleet)) {
		taker_again(t);
		return;
	}
	if (t->held && was_there(reply, AT_H, NULL)) {
		is_registered(t, records_found(reply, AT_H).kv[0].created);
		return;
	}
	if (t->held && !evicted && fleet_may_register(t->fleet)) {
		register_again(t, reply->revision);
		return;
	}
	if (evicted)
		say_operator(&by, text);
	else
		say_why(t, reply, text);
	if (t->held) {
		taker_end(t, &(struct fleet_event){ .kind = FLEET_LOST,
						    .ticket = t->ticket,
						    .pid = by.pid,
						    .uid = by.uid,
						    .host = by.host,
						    .text = text });
	} else if (evicted) {
		taker_end(t, &(struct fleet_event){ .kind = FLEET_REFUSED,
						    .code = -FLK_EVICTED,
						    .pid = by.pid,
						    .uid = by.uid,
						    .host = by.host });
	} else {
		/* The taker never reported a grant: it takes its turn again. */
		t->looked = false;
		t->created = 0;
		taker_go(t, ASKING);
	}
}

/* An operator that deletes h/ by hand may leave the rest of it. */
void
losing_act(struct fleet_taker *t)
{
	struct key e = taker_key(t, 'e'), l = key_of(&t->fleet->limiter, 'l', t->fleet->life.name);
	struct key l_end = key_end(&l), p = taker_key(t, 'p'), h = taker_key(t, 'h');
	struct txn *x;

	if (t->slot[MAIN].call != NULL || !taker_is_fenced(t))
		return;
	x = txn_new();
	txn_get(x, e.s, NULL);
	txn_get(x, l.s, l_end.s)->keys_only = true;
	txn_get(x, h.s, NULL)->keys_only = true;
	txn_delete(x, p.s, NULL);
	taker_txn(t, MAIN, x, reason_read);
}
