/* SPDX-License-Identifier: ISC */
/*
 * leave.c - giving up whatever the taker has: a place, a permit, or a claim that got no answer.
 *
 * One txn deletes all keys, whatever it finds: they belong to no other taker, and no taker uses
 * them again, so it may come late and twice.  If the command's status is known, the same txn puts
 * it for people that follow, on the taker's lease.  After that the taker revokes its lease, and waits for
 * no answer.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

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

/*
 * Every other try is without it: a store that is full, or has ended the lease, refuses the put, and
 * must not keep the permit for that.
 */
static void
add_status(const struct fleet_taker *t, struct txn *x)
{
	struct key k = taker_key(t, 'x');
	char *value;

	if (t->status == FLK_UNKNOWN || !t->leased || t->failures % 2 != 0 ||
	    (value = status_encode(t->status)) == NULL)
		return;
	txn_put(x, k.s, value, strlen(value), t->lease);
	free(value);
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
	add_status(t, x);
	txn_delete(x, tail.s, NULL);
	txn_otherwise(x);
	add_deletions(t, x);
	add_status(t, x);
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
