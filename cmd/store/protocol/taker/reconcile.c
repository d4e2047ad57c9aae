/* SPDX-License-Identifier: ISC */
/*
 * reconcile.c - the keeper reads what the store has of a taker, when it does not know: after a call
 * that got no answer, after a change that it did not expect, and after the keeper before it was killed.
 */
#include "taker.h"

#include <string.h>

#include "kind.h"

enum { AT_H, AT_W, AT_E, AT_P, ATS };

static const char kinds[ATS] = { [AT_H] = 'h', [AT_W] = 'w', [AT_E] = 'e', [AT_P] = 'p' };

/* The key, if it was there. */
static const struct record_kv *
found(const struct records_answer *a, size_t at)
{
	struct records_found f = records_found(a, at);

	return f.n > 0 ? &f.kv[0] : NULL;
}

/* What makes no sense is left alone: an operator sees to it. */
static struct record
record_of(const struct record_kv *kv)
{
	struct record r;

	record_decode(&r, kv->value, kv->value_size);
	return r;
}

/* ---- what to do about it ---- */

static void
is_holder(struct fleet_taker *t, const struct record_kv *kv)
{
	struct record r = record_of(kv);

	t->claim_lease = 0;
	t->created = (int64_t)r.ticket;
	t->ticket = (uint64_t)kv->created;
	hold_begin(t, kv->created, &r);
}

/* What it stands behind, if that is still there; LOOKING finds out whether it is alive. */
static void
knows_before(struct fleet_taker *t, const struct records_answer *a)
{
	const struct record_kv *w = found(a, 0);
	struct record r;

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	t->created = (int64_t)t->ticket;
	if (w != NULL && key_parse(&t->fleet->limiter, w->key, t->before) == 'w') {
		r = record_of(w);
		memcpy(t->before_life, r.life, STORE_SELF);
		t->before_created = w->created;
	} else {
		t->before[0] = '\0';
	}
	taker_go(t, LOOKING);
}

/* After a silence all waiters come at once: the server would choke on it if each read all of the line. */
static void
ask_before(struct fleet_taker *t)
{
	struct key w = key_of(&t->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct txn *x = txn_new();

	txn_get(x, w.s, end.s)->newest_before = (int64_t)t->ticket;
	taker_txn(t, MAIN, x, knows_before);
}

static void
is_waiter(struct fleet_taker *t, const struct record_kv *kv)
{
	bool news = t->ticket != (uint64_t)kv->created;

	t->claim_lease = 0;
	t->adopted = false;
	t->ticket = (uint64_t)kv->created;
	if (t->created == kv->created)
		taker_go(t, LOOKING);
	else
		ask_before(t);
	if (news)
		taker_report(t, &(struct fleet_event){ .kind = FLEET_QUEUED, .ticket = t->ticket });
}

static void
is_evicted(struct fleet_taker *t, const struct record_kv *kv)
{
	struct person by;

	person_decode(&by, kv->value, kv->value_size);
	taker_end(t, &(struct fleet_event){
			 .kind = t->held ? FLEET_LOST : FLEET_REFUSED,
			 .code = t->held ? 0 : -FLK_EVICTED,
			 .ticket = t->ticket,
			 .pid = by.pid,
			 .uid = by.uid,
			 .host = by.host,
			 .text = t->held ? "the permit was taken back by an operator" : NULL });
}

static void
is_nowhere(struct fleet_taker *t)
{
	bool had_place = t->created != 0;

	if (t->claim_lease != 0) {
		taker_go(t, FENCING);
		return;
	}
	if (t->adopted) {
		lost_while_unkept(t);
		return;
	}
	t->created = 0;
	t->looked = false;
	/* In a store that was put back from an older copy they may wait for a revision that is far away. */
	watching_end_all(t);
	taker_go(t, ASKING);
	if (had_place)
		taker_note(t, "the store lost the place in the line, and it is at the end now");
}

static void
dropped(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK)
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

/* The keeper before this one has said it. */
static void
read_arrival(struct fleet_taker *t, const struct record_kv *p)
{
	struct person said;

	if (t->came_ms == 0 && p != NULL && person_decode(&said, p->value, p->value_size))
		t->came_ms = said.came_ms;
}

static void
read_all(struct fleet_taker *t, const struct records_answer *a)
{
	const struct record_kv *h = found(a, AT_H), *w = found(a, AT_W), *e = found(a, AT_E);

	read_arrival(t, found(a, AT_P));
	if (a->result != RECORDS_OK)
		taker_again(t);
	else if (h != NULL && w != NULL)
		drop_place(t);
	else if (h != NULL)
		is_holder(t, h);
	else if (w != NULL)
		is_waiter(t, w);
	else if (e != NULL)
		is_evicted(t, e);
	else
		is_nowhere(t);
}

void
reconcile_act(struct fleet_taker *t)
{
	struct txn *x;
	int i;

	if (t->slot[MAIN].call != NULL)
		return;
	life_need(&t->fleet->life);
	/* What the keeper before has sent last must be done first, or never. */
	if (t->adopted && !life_is_settled(&t->fleet->life))
		return;
	watching_own(t);
	x = txn_new();
	for (i = 0; i < ATS; i++) {
		struct key k = taker_key(t, kinds[i]);
		txn_get(x, k.s, NULL);
	}
	taker_txn(t, MAIN, x, read_all);
}

/* ---- the fence ---- */

void
fencing_act(struct fleet_taker *t)
{
	if (taker_is_fenced(t))
		taker_go(t, RECONCILE);
}
