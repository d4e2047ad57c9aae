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
may_wait(const struct engine_taker *t)
{
	return !t->want.no_wait && (!t->want.limit_queue || t->look.in_line < t->want.max_queue);
}

static void
no_room(struct engine_taker *t)
{
	taker_refuse(t, t->want.no_wait ? -EAGAIN : -FLK_FULL, NULL);
}

/* ---- the look ---- */

static void
decide(struct engine_taker *t)
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
looked(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result != ETCD_OK) {
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
asking_act(struct engine_taker *t)
{
	if (t->leased && !taker_is_fresh(t))
		taker_drop_lease(t);
	if (!t->leased)
		lease_ask(t);
	if (!t->looked)
		taker_call(t, MAIN, "/v3/kv/txn", look_body(&t->e->limiter, LOOK_FIRST, t->self, 0),
			   looked);
	if (t->leased && t->looked) {
		t->looked = false;
		decide(t);
	}
}

/* ---- the dead ---- */

void
marking_act(struct engine_taker *t)
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

static json_t *
claim_compares(const struct engine_taker *t)
{
	struct key w = key_of(&t->e->limiter, 'w', NULL), h = key_of(&t->e->limiter, 'h', NULL);
	struct key w_end = key_end(&w), h_end = key_end(&h);

	return etcd_list(etcd_if_mod(t->e->limiter.s, t->look.config_mod),
			 etcd_if_absent(w.s, w_end.s),
			 etcd_if_no_news(h.s, h_end.s, t->look.revision));
}

/*
 * Its place, the taker that came last before it, and how the limiter is steered then.  A range over
 * all waiters would cost the server more, the longer the line is.
 */
enum { PLACE, LAST, LAST_NOW, MINE, STEERED, IN_LINE };

static json_t *
queue_ops(const struct engine_taker *t)
{
	struct key tail = key_tail(&t->e->limiter);
	struct key mine = taker_key(t, 'w'), w = key_of(&t->e->limiter, 'w', NULL);
	struct key end = key_end(&w);
	char *record = taker_record(t, false);
	json_t *ops = NULL;

	if (record != NULL)
		ops =
		    etcd_list(etcd_put(mine.s, record, t->lease), etcd_get(tail.s, NULL, false, 0),
			      etcd_put(tail.s, t->self, t->lease), etcd_get(mine.s, NULL, true, 0),
			      etcd_get(t->e->limiter.s, NULL, false, 0));
	if (ops != NULL && t->want.limit_queue)
		json_array_append_new(ops, etcd_get(w.s, end.s, true, 1));
	free(record);
	return ops;
}

/* The taker that came last may be gone by now: a look finds that out. */
static void
read_last(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv);

	l->before[0] = '\0';
	if (n > 0 && kv[0].value_size == STORE_SELF - 1 && key_is_self(kv[0].value)) {
		memcpy(l->before, kv[0].value, STORE_SELF);
		l->before_created = kv[0].mod_revision;
	}
	etcd_kvs_free(kv, n);
}

static int64_t
read_created(const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv);
	int64_t created = n > 0 ? kv[0].create_revision : 0;

	etcd_kvs_free(kv, n);
	return created;
}

static void
queued(struct engine_taker *t, const struct etcd_reply *reply)
{
	const json_t *body = reply->body;

	t->created = read_created(etcd_response_range(body, MINE));
	if (t->created == 0) {
		t->open_claim = true;
		taker_go(t, RECONCILE);
		return;
	}
	/* The count includes the taker itself. */
	if (t->want.limit_queue && (uint64_t)etcd_integer(etcd_response_range(body, IN_LINE),
							  "count") > t->want.max_queue) {
		taker_move(t, LOOKING);
		leave_begin(t, ENGINE_REFUSED, -FLK_FULL);
		return;
	}
	t->ticket = (uint64_t)t->created;
	lease_keep(t);
	if (!look_read_config(&t->look, etcd_response_range(body, STEERED))) {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
		return;
	}
	if (t->look.config.closed) {
		taker_move(t, LOOKING);
		leave_begin(t, ENGINE_REFUSED, -FLK_CLOSED);
		return;
	}
	t->before[0] = '\0';
	read_last(&t->look, etcd_response_range(body, LAST));
	/* The first waiter needs no other look if nothing changed in between. */
	if (t->look.before[0] != '\0' || t->look.in_line > 0 || t->fitted ||
	    reply->revision != t->look.revision + 1) {
		taker_go(t, LOOKING);
	} else {
		t->look.revision = reply->revision;
		line_settle(t, FIRST);
	}
	taker_report(t, &(struct engine_event){ .kind = ENGINE_QUEUED, .ticket = t->ticket });
}

static void
claimed(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result == ETCD_NOLEASE) {
		taker_drop_lease(t);
		taker_go(t, ASKING);
	} else if (reply->result != ETCD_OK) {
		t->open_claim = true;
		taker_go(t, RECONCILE);
	} else if (t->fitted && etcd_succeeded(reply->body)) {
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
claiming_act(struct engine_taker *t)
{
	json_t *then = NULL, *otherwise = NULL, *compares = NULL;

	if (t->slot[MAIN].call != NULL)
		return;
	if (may_wait(t))
		otherwise = queue_ops(t);
	if (t->fitted) {
		compares = claim_compares(t);
		then = json_array();
		t->created = 0;
		if (!taker_grant_ops(t, then)) {
			json_decref(compares);
			json_decref(then);
			json_decref(otherwise);
			taker_again(t);
			return;
		}
	} else {
		then = otherwise;
		otherwise = NULL;
	}
	taker_txn(t, MAIN, compares, then, otherwise, claimed);
}
