/*
 * leave.c - giving up whatever there is: a place, a permit, or a claim that nobody answered.
 *
 * All is deleted in one txn without a compare: the keys are no one else's and never used again, so
 * it may come late and twice.  The lease is ended after that; nobody waits for it.
 */
#include "taker.h"

#include "elsewhere.h"

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

void
leaving_act(struct engine_taker *t)
{
	/* The permit first: whoever watches must not see one that is taken for dead. */
	static const char kinds[] = { 'h', 'l', 's', 't', 'w' };
	json_t *then;
	size_t i;

	if (t->slot[MAIN].call != NULL)
		return;
	if (t->open_claim) {
		taker_call(t, MAIN, "/v3/lease/revoke", engine_lease_body(t->lease, 0), fenced);
		return;
	}
	then = json_array();
	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = taker_key(t, kinds[i]);
		json_array_append_new(then, etcd_delete(k.s, NULL));
	}
	taker_call(t, MAIN, "/v3/kv/txn", etcd_txn(NULL, then, NULL), left);
}

void
leave_begin(struct engine_taker *t, enum engine_kind kind, int code)
{
	t->ending = kind;
	t->ending_code = code;
	if (t->state == LEAVING || t->state == RELEASING)
		return;
	t->open_claim |= t->state == CLAIMING;
	if (t->state == OVER || t->state <= MARKING) {
		taker_stop(t);
		t->untold = true;
		return;
	}
	taker_hush(t, LEASE);
	taker_hush(t, BEAT);
	taker_hush(t, CHECK);
	taker_hush(t, DEAD);
	watch_end(t);
	t->beat_ns = UINT64_MAX;
	t->failures = 0;
	taker_go(t, kind == ENGINE_RELEASED ? RELEASING : LEAVING);
}
