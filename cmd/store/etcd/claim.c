/*
 * claim.c - from nothing to a permit or a place, in two round trips: a lease and, beside it, a
 * look; then the claim, which is one txn.
 *
 * The claim grants if, since the look, no other limit or state was set, nobody came into the line
 * and no permit was granted.  Permits may have ended since: the more it fits.  If any of this is
 * not so, the same txn makes it a place in the line, which is a claim that nobody can contest.
 */
#include "taker.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "elsewhere.h"

#define AT_ONCE 3 /* claims that met others' before it takes its time */

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
	const struct config *c = &t->look.config;

	if (c->closed) {
		taker_refuse(t, -FLK_CLOSED, NULL);
	} else if (t->want.weight > taker_limit(t, c)) {
		taker_refuse(t, -FLK_HEAVY, NULL);
	} else {
		t->fitted = t->look.in_line == 0 && taker_fits(t);
		if (t->fitted || may_wait(t))
			taker_go(t, CLAIMING);
		else if (t->look.in_line == 0 && dead_any(t))
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

/* Without waiting, the look may be enough; the lease is dropped then. */
void
asking_act(struct engine_taker *t)
{
	if (t->leased && !taker_is_fresh(t))
		lease_drop(t);
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
	if (dead_act(t))
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
	struct key cfg = key_cfg(&t->e->limiter);
	struct key w = key_of(&t->e->limiter, 'w', NULL), h = key_of(&t->e->limiter, 'h', NULL);
	struct key w_end = key_end(&w), h_end = key_end(&h);
	json_t *compares = json_array();

	json_array_append_new(compares, etcd_if_mod(cfg.s, t->look.config_mod));
	json_array_append_new(compares, etcd_if_absent(w.s, w_end.s));
	json_array_append_new(compares, etcd_if_no_news(h.s, h_end.s, t->look.revision));
	return compares;
}

/* Its place, who is before it, and how the limiter is steered then. */
static json_t *
queue_ops(const struct engine_taker *t)
{
	struct key cfg = key_cfg(&t->e->limiter);
	struct key mine = taker_key(t, 'w'), w = key_of(&t->e->limiter, 'w', NULL);
	struct key end = key_end(&w);
	char *record = taker_record(t, false);
	json_t *ops = record == NULL ? NULL : json_array();

	if (ops != NULL) {
		json_array_append_new(ops, etcd_put(mine.s, record, t->lease));
		json_array_append_new(ops, look_ordered(w.s, end.s, true, 2, LOOK_DESCENDING, 0));
		json_array_append_new(ops, etcd_get(cfg.s, NULL, false, 0));
	}
	free(record);
	return ops;
}

static void
queued(struct engine_taker *t, const struct etcd_reply *reply)
{
	const json_t *range = etcd_response_range(reply->body, 1);
	uint64_t in_line = (uint64_t)etcd_integer(range, "count");
	struct etcd_kv *kv;
	long i, n = etcd_kvs(range, &kv);
	char self[STORE_SELF];

	t->created = 0;
	t->before[0] = '\0';
	t->look.before[0] = '\0';
	for (i = 0; i < n; i++) {
		if (key_parse(&t->e->limiter, kv[i].key, self) == 'w' &&
		    strcmp(self, t->self) != 0) {
			memcpy(t->before, self, sizeof(self));
			memcpy(t->look.before, self, sizeof(self));
			t->look.before_created = kv[i].create_revision;
		} else if (strcmp(self, t->self) == 0) {
			t->created = kv[i].create_revision;
		}
	}
	if (n >= 0)
		etcd_kvs_free(kv, n);
	if (t->created == 0) {
		t->open_claim = true;
		taker_go(t, DOUBT);
		return;
	}
	if (t->want.limit_queue && in_line > t->want.max_queue) {
		t->state = LOOKING;
		leave_begin(t, ENGINE_REFUSED, -FLK_FULL);
		return;
	}
	t->ticket = (uint64_t)t->created;
	lease_keep(t);
	if (!look_read_config(&t->look, etcd_response_range(reply->body, 2))) {
		taker_refuse(t, -FLK_STORE, t->look.trouble);
		return;
	}
	if (t->look.config.closed) {
		t->state = LOOKING;
		leave_begin(t, ENGINE_REFUSED, -FLK_CLOSED);
		return;
	}
	/*
	 * What a watch is to tell of the past comes up to 100 ms late, so each begins at the last
	 * revision that is known.  The first needs no other look if nothing came between.
	 */
	if (t->before[0] != '\0') {
		watch_line(t, reply->revision + 1);
		line_settle(t, BEHIND);
	} else if (t->fitted || reply->revision != t->look.revision + 1) {
		taker_go(t, LOOKING);
	} else {
		t->look.revision = reply->revision;
		line_settle(t, FIRST);
	}
	taker_tell(t, &(struct engine_event){ .kind = ENGINE_QUEUED, .ticket = t->ticket });
}

static void
claimed(struct engine_taker *t, const struct etcd_reply *reply)
{
	if (reply->result == ETCD_NOLEASE) {
		lease_drop(t);
		taker_go(t, ASKING);
	} else if (reply->result != ETCD_OK) {
		t->open_claim = true;
		taker_go(t, DOUBT);
	} else if (t->fitted && etcd_succeeded(reply->body)) {
		t->created = 0;
		t->ticket = (uint64_t)reply->revision;
		hold_begin(t, reply->revision, reply->revision, true);
	} else if (!t->fitted || may_wait(t)) {
		queued(t, reply);
	} else {
		/* Others came first, and it must not wait: whether it would have to is asked anew. */
		t->state = ASKING;
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
	taker_call(t, MAIN, "/v3/kv/txn", etcd_txn(compares, then, otherwise), claimed);
}
