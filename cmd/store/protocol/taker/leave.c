/* SPDX-License-Identifier: ISC */
/*
 * leave.c - giving up whatever the taker has: a place, a permit, or a claim that got no answer.
 *
 * One txn deletes all keys, whatever it finds: they belong to no other taker, and no taker uses
 * them again, so it may come late and twice.  After that the taker revokes its lease, and waits for
 * no answer.
 */
#include "taker.h"

#include "kind.h"

static void
left(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	taker_end(t, &(struct fleet_event){
			 .kind = t->ending, .code = t->ending_code, .ticket = t->ticket });
}

static void
fenced(struct fleet_taker *t, const struct records_answer *reply)
{
	if (taker_fenced(t, reply))
		taker_act(t);
}

static void
add_deletions(const struct fleet_taker *t, struct txn *x)
{
	/* The permit first: a watching repairer must not see a permit whose holder looks dead. */
	static const char kinds[] = { 'h', 'l', 's', 't', 'w' };
	size_t i;

	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = taker_key(t, kinds[i]);
		txn_delete(x, k.s, NULL);
	}
}

void
leaving_act(struct fleet_taker *t)
{
	struct key tail = key_tail(&t->fleet->limiter);
	struct txn *x;

	if (t->slot[MAIN].call != NULL)
		return;
	if (t->open_claim) {
		taker_on_lease(t, MAIN, records_end, fenced);
		return;
	}
	/* If this taker was the last to enter the line, delete tail, too. */
	x = txn_new();
	txn_if_changed(x, tail.s, t->created);
	add_deletions(t, x);
	txn_delete(x, tail.s, NULL);
	txn_otherwise(x);
	add_deletions(t, x);
	taker_txn(t, MAIN, x, left);
}

void
leave_begin(struct fleet_taker *t, enum fleet_kind kind, int code)
{
	t->ending = kind;
	t->ending_code = code;
	if (t->state == LEAVING || t->state == RELEASING)
		return;
	t->open_claim |= t->state == CLAIMING;
	if (t->state <= MARKING) {
		taker_stop(t);
		t->unreported = true;
		return;
	}
	taker_hush_all(t);
	taker_unwatch(t);
	t->beat_ns = UINT64_MAX;
	t->failures = 0;
	taker_go(t, kind == FLEET_RELEASED ? RELEASING : LEAVING);
}
