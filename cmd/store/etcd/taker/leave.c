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
left(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result != ETCD_OK) {
		taker_again(t);
		return;
	}
	taker_end(t, &(struct engine_event){
			 .kind = t->ending, .code = t->ending_code, .ticket = t->ticket });
}

static void
fenced(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result != ETCD_OK && reply->result != ETCD_NOLEASE) {
		taker_again(t);
		return;
	}
	t->open_claim = false;
	taker_act(t);
}

static json_t *
deletions(const struct engine_taker *t)
{
	/* The permit first: a watching repairer must not see a permit whose holder looks dead. */
	static const char kinds[] = { 'h', 'l', 's', 't', 'w' };
	json_t *ops = json_array();
	size_t i;

	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = taker_key(t, kinds[i]);
		json_array_append_new(ops, etcd_delete(k.s, NULL));
	}
	return ops;
}

void
leaving_act(struct engine_taker *t)
{
	struct key tail = key_tail(&t->e->limiter);
	json_t *then;

	if (t->slot[MAIN].call != NULL)
		return;
	if (t->open_claim) {
		taker_call(t, MAIN, "/v3/lease/revoke", engine_lease_body(t->lease, 0), fenced);
		return;
	}
	/* If this taker was the last to enter the line, delete tail, too. */
	then = deletions(t);
	json_array_append_new(then, etcd_delete(tail.s, NULL));
	taker_txn(t, MAIN, etcd_list(etcd_if_mod(tail.s, t->created)), then, deletions(t), left);
}

void
leave_begin(struct engine_taker *t, enum engine_kind kind, int code)
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
	taker_go(t, kind == ENGINE_RELEASED ? RELEASING : LEAVING);
}
