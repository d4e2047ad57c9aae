/* SPDX-License-Identifier: ISC */
/*
 * leave.c - giving up whatever the taker has: a place, a permit, or a claim that got no answer; and
 * granting what others may have now: see round.h.
 *
 * A release asks whether anybody waits, and is done if nobody does.  Otherwise the answer is the look by
 * which it plans a round.  Of a taker that has waited itself, it looks first: others are likely to wait, and
 * a look needs no disk.
 *
 * The taker's keys belong to no other taker, and no taker uses them again: so their deletion may come
 * late and twice.
 */
#include "taker.h"

#include <string.h>

#include "kind.h"

static void
end(struct fleet_taker *t)
{
	seen_ended(t);
	taker_end(t, &(struct fleet_event){ .kind = t->ending,
					    .code = t->ending_code,
					    .ticket = t->ticket,
					    .text = t->ending_code == -FLK_STORE ? t->look.trouble
										 : NULL });
}

/*
 * Every other try is without it: a store that is full, or has ended the lease, refuses the put, and must
 * not keep the permit for that.
 */
static void
add_status(const struct fleet_taker *t, struct txn *x)
{
	const struct life *life = &t->fleet->life;
	struct key k = taker_key(t, 'x');
	char text[RECORD_TEXT];

	if (t->status != FLK_UNKNOWN && life->state == LIFE_SHOWN && t->failures % 2 == 0)
		txn_put(x, k.s, text, status_encode(text, t->status), life->lease);
}

/* What a repairer wrote of its life would be left behind. */
static void
add_deletions(const struct fleet_taker *t, struct txn *x)
{
	static const char kinds[] = { 'h', 'w', 'p' };
	size_t i;

	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = taker_key(t, kinds[i]);
		txn_delete(x, k.s, NULL);
	}
	add_status(t, x);
	life_add_unmark(&t->fleet->limiter, t->fleet->life.name, x);
}

/* ---- what there may be ---- */

static void
learned(struct fleet_taker *t, const struct records_answer *a)
{
	struct records_found w = records_found(a, 0);

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	if (w.n > 0)
		t->created = w.kv[0].created;
	t->unread = false;
	taker_act(t);
}

static void
learn(struct fleet_taker *t)
{
	struct key w = taker_key(t, 'w');
	struct txn *x = txn_new();

	txn_get(x, w.s, NULL)->keys_only = true;
	taker_txn(t, MAIN, x, learned);
}

/* ---- without a round ---- */

/* Its keys are gone, whatever was read with that. */
static void
departed(struct fleet_taker *t, const struct records_answer *a)
{
	struct look look;

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	look_init(&look, &t->fleet->limiter);
	if (look_read(&look, LOOK_LINE, a))
		round_run(t->fleet, &look);
	look_free(&look);
	end(t);
}

static void
add_departure(const struct fleet_taker *t, struct txn *x)
{
	add_deletions(t, x);
	round_ring(x, &t->fleet->limiter);
	look_add(x, &t->fleet->limiter, LOOK_LINE);
}

static void
depart(struct fleet_taker *t)
{
	struct key tail = key_tail(&t->fleet->limiter);
	struct txn *x = txn_new();

	/* If this taker was the last to enter the line, nobody stands behind it. */
	if (t->created != 0) {
		txn_if_changed(x, tail.s, t->created);
		txn_delete(x, tail.s, NULL);
		add_departure(t, x);
		txn_otherwise(x);
	}
	add_departure(t, x);
	taker_txn(t, MAIN, x, departed);
}

/* ---- with one ---- */

static void
passed_on(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK || !a->held) {
		departed(t, a);
		return;
	}
	seen_is_old(t->fleet, a->revision);
	if (round_goes_on(&t->gives_end, a))
		round_run(t->fleet, NULL);
	end(t);
}

/* If the round does not hold, the taker leaves all the same. */
static void
pass_on(struct fleet_taker *t, const struct round *r)
{
	struct txn *x = txn_new();

	t->gives_end = r->end;
	round_add_compares(r, x);
	add_deletions(t, x);
	round_add_grants(r, x);
	txn_otherwise(x);
	add_departure(t, x);
	taker_txn(t, MAIN, x, passed_on);
}

static void
asked(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
	} else if (a->held) {
		end(t);
	} else {
		t->looked = look_read(&t->look, LOOK_LINE, a);
		if (!t->looked) /* what makes no sense keeps nobody from leaving */
			depart(t);
		else
			taker_act(t);
	}
}

/* If nobody waits, that is all. */
static void
ask(struct fleet_taker *t)
{
	struct key w = key_of(&t->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct txn *x = txn_new();

	txn_if_absent(x, w.s, end.s);
	add_deletions(t, x);
	round_add_silence(x, &t->fleet->limiter);
	txn_otherwise(x);
	look_add(x, &t->fleet->limiter, LOOK_LINE);
	taker_txn(t, MAIN, x, asked);
}

static void
read_line(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	t->looked = look_read(&t->look, LOOK_LINE, a) && t->look.waiters > 0;
	if (t->looked)
		taker_act(t);
	else
		ask(t);
}

/* ---- */

void
leaving_act(struct fleet_taker *t)
{
	struct round r;

	if (t->slot[MAIN].call != NULL || (t->unread && !life_is_settled(&t->fleet->life)))
		return;
	if (!taker_is_fenced(t))
		return;
	if (t->unread) {
		learn(t);
	} else if (t->state == LEAVING) {
		depart(t);
	} else if (!t->looked && t->created != 0) {
		taker_txn(t, MAIN, look_txn(&t->fleet->limiter, LOOK_LINE), read_line);
	} else if (!t->looked) {
		ask(t);
	} else {
		round_plan(&r, &t->look, t->self, true, fleet_operations(t->fleet, &t->look));
		if (r.n > 0)
			pass_on(t, &r);
		else
			depart(t);
	}
}

void
leave_begin(struct fleet_taker *t, enum fleet_kind kind, int code)
{
	t->ending = kind;
	t->ending_code = code;
	if (t->state == LEAVING || t->state == RELEASING)
		return;
	if (t->state <= MARKING) {
		taker_stop(t);
		t->unreported = true;
		return;
	}
	taker_hush(t, DEAD);
	watching_end_all(t);
	t->failures = 0;
	t->looked = false;
	t->unread = t->adopted || t->claim_lease != 0;
	taker_go(t, kind == FLEET_RELEASED ? RELEASING : LEAVING);
}
