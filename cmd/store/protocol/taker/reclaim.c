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
suspect(struct fleet_taker *t)
{
	return look_find(&t->look, t->suspect);
}

static bool
is_dead(const struct fleet_taker *t, const struct look_holder *h)
{
	return !h->alive && !h->record.manual && strcmp(h->self, t->self) != 0;
}

bool
reclaim_any(const struct fleet_taker *t)
{
	size_t i;

	for (i = 0; i < t->look.holders; i++)
		if (is_dead(t, &t->look.holder[i]))
			return true;
	return false;
}

static void
put_off(struct fleet_taker *t)
{
	struct look_holder *h = suspect(t);

	if (h != NULL)
		h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	taker_act(t);
}

/* ---- taking the permit back ---- */

static void
reclaimed(struct fleet_taker *t, const struct records_answer *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == RECORDS_OK && reply->held) {
		t->freed_some = true;
	} else if (reply->result == RECORDS_OK && h != NULL) {
		h->marked = 0;
		h->over = false;
	}
	/* The watch reports that h/ is gone, or what else has changed. */
	put_off(t);
}

static void
reclaim(struct fleet_taker *t, const struct look_holder *x)
{
	const struct key *p = &t->fleet->limiter;
	struct key h = key_of(p, 'h', x->self), l = key_of(p, 'l', x->self);
	struct key s = key_of(p, 's', x->self), g = key_of(p, 't', x->self);
	struct txn *txn = txn_new();

	txn_if_changed(txn, s.s, x->marked);
	txn_if_absent(txn, l.s, NULL);
	txn_if_changed(txn, h.s, x->mod);
	txn_delete(txn, h.s, NULL);
	txn_delete(txn, s.s, NULL);
	txn_delete(txn, g.s, NULL);
	taker_txn(t, DEAD, txn, reclaimed);
}

/* ---- its grace ---- */

static void
add_mark(struct txn *x, const struct key *s, int64_t mod)
{
	char value[64];
	int n = snprintf(value, sizeof(value), "{\"v\":1,\"mod\":%lld}", (long long)mod);

	txn_put(x, s->s, value, (size_t)n, 0);
}

/* Without an answer, the mark may have either revision: the repairer must read it. */
static void
grace_put(struct fleet_taker *t, const struct records_answer *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == RECORDS_OK && reply->held) {
		if (h != NULL && h->marked != 0)
			h->marked = reply->revision;
		taker_act(t);
		return;
	}
	/*
	 * Keeps the lease if there was no answer: t/ may stand on it, and would be gone too early.
	 */
	if (reply->result == RECORDS_OK)
		fleet_revoke(t->fleet, t->grace_lease);
	if (h != NULL)
		h->marked = 0;
	put_off(t);
}

/* Without a lease, the repairer relies on its own clock. */
static void
put_grace(struct fleet_taker *t, const struct records_answer *reply)
{
	const struct key *p = &t->fleet->limiter;
	struct key s = key_of(p, 's', t->suspect), g = key_of(p, 't', t->suspect);
	const struct look_holder *h = suspect(t);
	struct txn *x;

	if (reply->result != RECORDS_OK || h == NULL || h->marked == 0) {
		if (reply->result == RECORDS_OK)
			fleet_revoke(t->fleet, t->grace_lease);
		taker_act(t);
		return;
	}
	x = txn_new();
	txn_if_changed(x, s.s, h->marked);
	add_mark(x, &s, t->suspect_mod);
	txn_put(x, g.s, "", 0, t->grace_lease);
	taker_txn(t, DEAD, x, grace_put);
}

/* The grace begins now: by our clock; and by t/, for all other repairers. */
static void
begin_grace(struct fleet_taker *t, struct look_holder *h, int64_t mark)
{
	h->seen = 0;
	h->marked = mark;
	h->ripe_ns = flki_boottime_ns() + h->record.grace_s * SECOND;
	t->grace_lease = fleet_random_id();
	taker_lease(t, DEAD, t->grace_lease, h->record.grace_s + 1, put_grace);
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
read_mark(struct fleet_taker *t, struct look_holder *h, const struct records_answer *reply)
{
	struct records_found s = records_found(reply, 0), g = records_found(reply, 1);

	h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	if (s.n == 0)
		h->seen = 0;
	else if (s.kv[0].changed == s.kv[0].created)
		begin_grace(t, h, s.kv[0].changed);
	else
		wait_grace(h, s.kv[0].changed, g.n == 0);
}

static void
mark_is(struct fleet_taker *t, const struct records_answer *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result == RECORDS_OK && h != NULL && !h->alive)
		read_mark(t, h, reply);
	else if (h != NULL)
		h->ripe_ns = flki_boottime_ns() + PUT_OFF;
	taker_act(t);
}

/* s/ and t/: see read_mark(). */
static void
add_get_mark(const struct fleet_taker *t, struct txn *x)
{
	struct key s = key_of(&t->fleet->limiter, 's', t->suspect);
	struct key g = key_of(&t->fleet->limiter, 't', t->suspect);

	txn_get(x, s.s, NULL)->keys_only = true;
	txn_get(x, g.s, NULL)->keys_only = true;
}

static void
marked(struct fleet_taker *t, const struct records_answer *reply)
{
	struct look_holder *h = suspect(t);

	if (reply->result != RECORDS_OK || h == NULL || h->alive) {
		put_off(t);
		return;
	}
	if (reply->held)
		begin_grace(t, h, reply->revision);
	else
		read_mark(t, h, reply);
	taker_act(t);
}

static void
mark(struct fleet_taker *t)
{
	const struct key *p = &t->fleet->limiter;
	struct key h = key_of(p, 'h', t->suspect), l = key_of(p, 'l', t->suspect);
	struct key s = key_of(p, 's', t->suspect);
	struct txn *x = txn_new();

	txn_if_absent(x, s.s, NULL);
	txn_if_absent(x, l.s, NULL);
	txn_if_changed(x, h.s, t->suspect_mod);
	add_mark(x, &s, t->suspect_mod);
	txn_otherwise(x);
	add_get_mark(t, x);
	taker_txn(t, DEAD, x, marked);
}

static void
ask_mark(struct fleet_taker *t)
{
	struct txn *x = txn_new();

	add_get_mark(t, x);
	taker_txn(t, DEAD, x, mark_is);
}

/* ---- which suspect comes next ---- */

bool
reclaim_act(struct fleet_taker *t)
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
			ask_mark(t);
		else
			mark(t);
		return true;
	}
	return false;
}
