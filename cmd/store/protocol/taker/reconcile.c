/* SPDX-License-Identifier: ISC */
/*
 * reconcile.c - the keeper reads what the store has of a taker, when it does not know: after a call
 * that got no answer, after the lease went, and after the keeper before it was killed.
 */
#include "taker.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records/retry.h"
#include "kind.h"

struct found {
	bool h, l, w, e;
	int64_t h_created, l_lease, w_created, w_lease;
	struct record record;
	struct culprit culprit;
};

enum { AT_H, AT_L, AT_W, AT_E, ATS };

static void
find_one(struct found *f, int at, const struct record_kv *kv)
{
	switch (at) {
	case AT_H:
		f->h = true;
		f->h_created = kv->created;
		record_decode(&f->record, kv->value, kv->value_size);
		break;
	case AT_L:
		f->l = true;
		f->l_lease = kv->lease;
		break;
	case AT_W:
		f->w = true;
		f->w_created = kv->created;
		f->w_lease = kv->lease;
		break;
	default:
		f->e = true;
		culprit_decode(&f->culprit, kv->value, kv->value_size);
	}
}

static void
find(struct found *f, const struct records_answer *reply)
{
	int at;

	memset(f, 0, sizeof(*f));
	for (at = 0; at < ATS; at++) {
		struct records_found found = records_found(reply, (size_t)at);
		if (found.n > 0)
			find_one(f, at, &found.kv[0]);
	}
}

/* ---- what to do about it ---- */

/* The lease of l/ counts: there may have been several. */
static void
is_holder(struct fleet_taker *t, const struct found *f, int64_t revision)
{
	t->open_claim = t->adopted = false;
	t->ticket = f->record.ticket != 0 ? f->record.ticket : (uint64_t)f->h_created;
	t->created = (int64_t)f->record.ticket;
	t->under = f->record.under;
	t->seat = f->record.seat;
	if (f->l && f->l_lease != t->lease) {
		t->lease = f->l_lease;
		t->leased = false;
		t->alive_ns = 0;
	}
	hold_begin(t, f->h_created, revision, f->l);
}

static void
is_waiter(struct fleet_taker *t, const struct found *f)
{
	bool news = t->ticket != (uint64_t)f->w_created;

	t->open_claim = t->adopted = false;
	if (f->w_lease != t->lease) {
		t->lease = f->w_lease;
		t->leased = false;
		t->alive_ns = 0;
	}
	t->created = f->w_created;
	t->ticket = (uint64_t)f->w_created;
	/* Renew an adopted lease as soon as possible: nobody knows how long it lasts. */
	if (!t->leased)
		t->beat_ns = flki_boottime_ns() + (t->alive_ns == 0 ? 0 : retry_pause(t->missed++));
	lease_keep(t);
	taker_go(t, LOOKING);
	if (news)
		taker_report(t, &(struct fleet_event){ .kind = FLEET_QUEUED, .ticket = t->ticket });
}

static void
is_evicted(struct fleet_taker *t, const struct found *f)
{
	taker_end(t, &(struct fleet_event){
			 .kind = t->held ? FLEET_LOST : FLEET_REFUSED,
			 .code = t->held ? 0 : -FLK_EVICTED,
			 .ticket = t->ticket,
			 .pid = f->culprit.pid,
			 .uid = f->culprit.uid,
			 .host = f->culprit.host,
			 .text = t->held ? "the permit was taken back by an operator" : NULL });
}

static void
is_nowhere(struct fleet_taker *t)
{
	bool had_place = t->created != 0;

	if (t->open_claim) {
		taker_go(t, FENCING);
		return;
	}
	if (t->adopted && t->held) {
		taker_end(t, &(struct fleet_event){
				 .kind = FLEET_LOST, .ticket = t->ticket, .text = lost_unkept });
		return;
	}
	if (t->adopted) {
		taker_refuse(t, -FLK_NOPERMIT, NULL);
		return;
	}
	taker_drop_lease(t);
	taker_unwatch(t);
	t->created = 0;
	t->looked = false;
	taker_go(t, ASKING);
	if (had_place)
		taker_note(t, "the store lost the place in the line, and it is at the end now");
}

static void
dropped(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK)
		taker_again(t);
	else
		taker_act(t);
}

/* A holder with a place in the line would be its head for ever. */
static void
drop_place(struct fleet_taker *t)
{
	struct key w = taker_key(t, 'w');
	struct txn *x = txn_new();

	txn_delete(x, w.s, NULL);
	taker_txn(t, MAIN, x, dropped);
}

static void
found(struct fleet_taker *t, const struct records_answer *reply)
{
	struct found f;

	find(&f, reply);
	if (reply->result != RECORDS_OK)
		taker_again(t);
	else if (f.h && f.w)
		drop_place(t);
	else if (f.h)
		is_holder(t, &f, reply->revision);
	else if (f.w)
		is_waiter(t, &f);
	else if (f.e)
		is_evicted(t, &f);
	else
		is_nowhere(t);
}

void
reconcile_act(struct fleet_taker *t)
{
	static const char kinds[ATS] = { [AT_H] = 'h', [AT_L] = 'l', [AT_W] = 'w', [AT_E] = 'e' };
	struct txn *x;
	int i;

	if (t->slot[MAIN].call != NULL)
		return;
	x = txn_new();
	for (i = 0; i < ATS; i++) {
		struct key k = taker_key(t, kinds[i]);
		txn_get(x, k.s, NULL);
	}
	taker_txn(t, MAIN, x, found);
}

/* ---- the fence ---- */

static void
fenced(struct fleet_taker *t, const struct records_answer *reply)
{
	if (!taker_fenced(t, reply))
		return;
	t->leased = false;
	taker_go(t, RECONCILE);
}

void
fencing_act(struct fleet_taker *t)
{
	taker_hush(t, BEAT);
	taker_on_lease(t, MAIN, records_end, fenced);
}
