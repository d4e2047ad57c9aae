/* SPDX-License-Identifier: ISC */
/*
 * reclaim.c - a taker that dead holders keep waiting takes their permits back: here it is the
 * repairer.
 *
 * A holder is suspect when it has h/ and no l/: its lease ended, so it did not reach the store for
 * its ttl.  It may still be alive, and has its grace to end its command or to attach again.
 *
 * The first repairer that sees it marks it: s/, and then t/ on a lease as long as the grace.  The
 * txn that writes t/ writes s/ again, so the revision of s/ shows that t/ was there.  The lease of
 * t/ is younger than the mark: of an older lease the repairer could not know how much was left when
 * it marked.
 *
 * A holder that attaches again deletes the mark.  So a mark with the revision that the repairer saw
 * proves that the holder has not attached since.  That the grace is over, the repairer knows by its
 * own clock since it saw the mark, or by t/ being gone.  So neither a late watch nor a repairer
 * that was stopped can take a permit back too early.  Takers that never wait take permits back,
 * too: one of them marks, and a later one finds the grace over.
 */
#include "taker.h"

#include <stdio.h>
#include <string.h>

#define PUT_OFF SECOND

static struct look_holder *
suspect(struct engine_taker *t)
{
	return look_find(&t->look, t->suspect);
}

static bool
is_dead(const struct engine_taker *t, const struct look_holder *h)
{
	return !h->alive && !h->record.manual && strcmp(h->self, t->self) != 0;
}

bool
reclaim_any(const struct engine_taker *t)
{
	size_t i;

	for (i = 0; i < t->look.holders; i++)
		if (is_dead(t, &t->look.holder[i]))
			return true;
	return false;
}

static void
put_off(struct engine_taker *t)
{
	struct look_holder *h = suspect(t);

	if (h != NULL)
		h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	taker_act(t);
}

/* ---- taking the permit back ---- */

static void
reclaimed(struct engine_taker *t, const struct etcd_reply *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == ETCD_OK && etcd_succeeded(reply->body)) {
		t->freed_some = true;
	} else if (reply->result == ETCD_OK && h != NULL) {
		h->marked = 0;
		h->over = false;
	}
	/* The watch reports that h/ is gone, or what else has changed. */
	put_off(t);
}

static void
reclaim(struct engine_taker *t, const struct look_holder *x)
{
	const struct key *p = &t->e->limiter;
	struct key h = key_of(p, 'h', x->self), l = key_of(p, 'l', x->self);
	struct key s = key_of(p, 's', x->self), g = key_of(p, 't', x->self);

	taker_txn(t, DEAD,
		  etcd_list(etcd_if_mod(s.s, x->marked), etcd_if_absent(l.s, NULL),
			    etcd_if_mod(h.s, x->mod)),
		  etcd_list(etcd_delete(h.s, NULL), etcd_delete(s.s, NULL), etcd_delete(g.s, NULL)),
		  NULL, reclaimed);
}

/* ---- its grace ---- */

static json_t *
put_mark(const struct key *s, int64_t mod)
{
	char value[64];

	snprintf(value, sizeof(value), "{\"v\":1,\"mod\":%lld}", (long long)mod);
	return etcd_put(s->s, value, 0);
}

/* Without an answer, the mark may have either revision: the repairer must read it. */
static void
grace_put(struct engine_taker *t, const struct etcd_reply *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == ETCD_OK && etcd_succeeded(reply->body)) {
		if (h != NULL && h->marked != 0)
			h->marked = reply->revision;
		taker_act(t);
		return;
	}
	/*
	 * Keeps the lease if there was no answer: t/ may stand on it, and would be gone too early.
	 */
	if (reply->result == ETCD_OK)
		engine_revoke(t->e, t->grace_lease);
	if (h != NULL)
		h->marked = 0;
	put_off(t);
}

/* Without a lease, the repairer relies on its own clock. */
static void
put_grace(struct engine_taker *t, const struct etcd_reply *reply)
{
	const struct key *p = &t->e->limiter;
	struct key s = key_of(p, 's', t->suspect), g = key_of(p, 't', t->suspect);
	const struct look_holder *h = suspect(t);

	if (reply->result != ETCD_OK || h == NULL || h->marked == 0) {
		if (reply->result == ETCD_OK)
			engine_revoke(t->e, t->grace_lease);
		taker_act(t);
		return;
	}
	taker_txn(t, DEAD, etcd_list(etcd_if_mod(s.s, h->marked)),
		  etcd_list(put_mark(&s, t->suspect_mod), etcd_put(g.s, "", t->grace_lease)), NULL,
		  grace_put);
}

/* The grace begins now: by our clock; and by t/, for all other repairers. */
static void
begin_grace(struct engine_taker *t, struct look_holder *h, int64_t mark)
{
	h->seen = 0;
	h->marked = mark;
	h->ripe_ns = flki_boottime_ns() + h->record.grace_s * SECOND;
	t->grace_lease = engine_random_id();
	taker_call(t, DEAD, "/v3/lease/grant",
		   engine_lease_body(t->grace_lease, h->record.grace_s + 1), put_grace);
}

/* ---- marked ---- */

/* The grace is over when t/ is gone, or a whole grace after we first saw this mark. */
static void
wait_grace(struct look_holder *h, int64_t mark, bool over)
{
	uint64_t now = flki_boottime_ns(), full;

	if (h->seen != mark)
		h->seen_ns = now;
	h->seen = mark;
	full = h->seen_ns + h->record.grace_s * SECOND;
	h->ripe_ns = now + PUT_OFF;
	h->over = over;
	if (over || full <= h->ripe_ns) {
		h->marked = mark;
		h->ripe_ns = over ? now : full;
	}
}

/*
 * Another repairer, which may be long gone, marked the holder: before it put t/, or after.  By t/,
 * the permits of holders that died together are taken back together, whichever repairer looks
 * first.
 */
static void
read_mark(struct engine_taker *t, struct look_holder *h, const json_t *body)
{
	struct etcd_kv *s, *g;
	long n = etcd_kvs(etcd_response_range(body, 0), &s);
	long m = etcd_kvs(etcd_response_range(body, 1), &g);

	h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	if (n > 0 && m >= 0 && s[0].mod_revision == s[0].create_revision)
		begin_grace(t, h, s[0].mod_revision);
	else if (n > 0 && m >= 0)
		wait_grace(h, s[0].mod_revision, m == 0);
	else if (n == 0)
		h->seen = 0;
	etcd_kvs_free(s, n);
	etcd_kvs_free(g, m);
}

static void
mark_is(struct engine_taker *t, const struct etcd_reply *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == ETCD_OK && h != NULL && !h->alive)
		read_mark(t, h, reply->body);
	else if (h != NULL)
		h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	taker_act(t);
}

/* Reads s/ and t/. */
static json_t *
get_mark(const struct engine_taker *t)
{
	struct key s = key_of(&t->e->limiter, 's', t->suspect);
	struct key g = key_of(&t->e->limiter, 't', t->suspect);

	return etcd_list(etcd_get(s.s, NULL, true, 0), etcd_get(g.s, NULL, true, 0));
}

static void
marked(struct engine_taker *t, const struct etcd_reply *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result != ETCD_OK || h == NULL || h->alive) {
		put_off(t);
		return;
	}
	if (etcd_succeeded(reply->body))
		begin_grace(t, h, reply->revision);
	else
		read_mark(t, h, reply->body);
	taker_act(t);
}

static void
mark(struct engine_taker *t)
{
	const struct key *p = &t->e->limiter;
	struct key h = key_of(p, 'h', t->suspect), l = key_of(p, 'l', t->suspect);
	struct key s = key_of(p, 's', t->suspect);

	taker_txn(t, DEAD,
		  etcd_list(etcd_if_absent(s.s, NULL), etcd_if_absent(l.s, NULL),
			    etcd_if_mod(h.s, t->suspect_mod)),
		  etcd_list(put_mark(&s, t->suspect_mod)), get_mark(t), marked);
}

/* ---- which suspect comes next ---- */

bool
reclaim_act(struct engine_taker *t)
{
	uint64_t now = flki_boottime_ns();
	size_t i;

	t->dead_ns = UINT64_MAX;
	if (t->slot[DEAD].call != NULL)
		return true;
	for (i = 0; i < t->look.holders; i++) {
		struct look_holder *h = &t->look.holder[i];
		if (!is_dead(t, h))
			continue;
		if (h->ripe_ns > now) {
			if (h->ripe_ns < t->dead_ns)
				t->dead_ns = h->ripe_ns;
			continue;
		}
		memcpy(t->suspect, h->self, sizeof(t->suspect));
		t->suspect_mod = h->mod;
		if (h->marked != 0)
			reclaim(t, h);
		else if (h->seen != 0)
			taker_txn(t, DEAD, NULL, get_mark(t), NULL, mark_is);
		else
			mark(t);
		return true;
	}
	return false;
}
