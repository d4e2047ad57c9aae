/* SPDX-License-Identifier: ISC */
/*
 * hold.c - a taker that holds: it proves that it is alive, and attaches again when the store
 * believed that it was dead.
 *
 * A renewal counts when two answers came: that of the lease's keepalive, which a server that has
 * lost its cluster answers as well, and that of a read of h/ and l/, which only the cluster can
 * answer.
 */
#include "taker.h"

#include <stdio.h>

#include "records/retry.h"
#include "kind.h"

/*
 * On one machine, the number of its CPUs is a good limit.  In a store, the CPUs of the machine that
 * happened to come first are hardly what the user meant for all of them.
 */
static void
warn_of_first(struct fleet_taker *t)
{
	char text[FLEET_TEXT];

	if (!t->first)
		return;
	t->first = false;
	snprintf(text, sizeof(text),
		 "the limiter is new and no -n was given: its limit on all machines is now %u, the "
		 "number of CPUs of this one; use -n to set it",
		 t->want.fallback);
	taker_note(t, text);
}

static void
report_held(struct fleet_taker *t, enum fleet_kind kind)
{
	struct key h = taker_key(t, 'h');

	t->reported = t->held = true;
	warn_of_first(t);
	taker_report(t, &(struct fleet_event){ .kind = kind,
					       .ticket = t->ticket,
					       .weight = t->want.weight,
					       .limit = t->under,
					       .seat = t->seat,
					       .alive_ns = t->alive_ns,
					       .key = h.s });
}

void
hold_begin(struct fleet_taker *t, int64_t held_since, int64_t revision, bool attached)
{
	t->held_since = held_since;
	t->l_gone = 0;
	t->attached = revision;
	t->proven_ns = attached ? t->alive_ns : 0;
	t->reported = false;
	look_free(&t->look);
	t->renewed = t->checked = false;
	t->beat_ns = UINT64_MAX;
	taker_hush(t, BEAT);
	taker_hush(t, DEAD);
	taker_unwatch(t);
	watch_held(t, revision + 1);
	if (!attached) {
		taker_go(t, ATTACHING);
		return;
	}
	taker_go(t, HOLDING);
	if (taker_is_fresh(t)) {
		lease_keep(t);
		report_held(t, FLEET_GRANTED);
	} else {
		hold_beat(t);
	}
}

/* ---- renewals ---- */

static void
round_over(struct fleet_taker *t)
{
	if (t->slot[BEAT].call != NULL || t->slot[CHECK].call != NULL)
		return;
	if (!t->renewed || !t->checked) {
		t->beat_ns = flki_boottime_ns() + retry_renewal(t->missed++, t->fleet->ttl_s);
		return;
	}
	lease_lives(t, t->round_ns);
	t->proven_ns = t->alive_ns;
	report_held(t, t->reported ? FLEET_RENEWED : FLEET_GRANTED);
}

/* A renewal that is still under way is about a lease that no longer counts. */
static void
detached(struct fleet_taker *t)
{
	t->revoked =
	    t->proven_ns != 0 && flki_boottime_ns() - t->proven_ns < t->fleet->ttl_s * SECOND;
	taker_drop_lease(t);
	taker_go(t, ATTACHING);
}

static void
beaten(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result == RECORDS_NOLEASE || (reply->result == RECORDS_OK && !reply->alive)) {
		detached(t);
		return;
	}
	t->renewed = reply->result == RECORDS_OK;
	round_over(t);
}

static void
add_both(const struct fleet_taker *t, struct txn *x)
{
	struct key h = taker_key(t, 'h'), l = taker_key(t, 'l');

	txn_get(x, h.s, NULL)->keys_only = true;
	txn_get(x, l.s, NULL)->keys_only = true;
}

/*
 * When h/ was created, and l/'s lease; 0 for a key that is absent.  False if there was no answer.
 */
static bool
read_both(const struct records_answer *reply, int64_t *created, int64_t *lease)
{
	struct records_found h = records_found(reply, 0), l = records_found(reply, 1);

	*created = h.n > 0 ? h.kv[0].created : 0;
	*lease = l.n > 0 ? l.kv[0].lease : 0;
	return reply->result == RECORDS_OK;
}

static void
checked(struct fleet_taker *t, const struct records_answer *reply)
{
	int64_t created, lease;

	if (!read_both(reply, &created, &lease)) {
		t->checked = false;
		round_over(t);
	} else if (created != t->held_since) {
		taker_go(t, LOSING);
	} else if (lease != t->lease) {
		detached(t);
	} else {
		/* The watch may have ended, or it could not begin. */
		watch_held(t, reply->revision + 1);
		t->checked = true;
		round_over(t);
	}
}

void
hold_beat(struct fleet_taker *t)
{
	struct txn *both;

	if (t->slot[BEAT].call != NULL || t->slot[CHECK].call != NULL)
		return;
	t->renewed = t->checked = false;
	t->round_ns = flki_boottime_ns();
	t->beat_ns = UINT64_MAX;
	taker_on_lease(t, BEAT, records_renew, beaten);
	both = txn_new();
	add_both(t, both);
	taker_txn(t, CHECK, both, checked);
	round_over(t);
}

/*
 * l/ is gone.  h/ may be gone, too, and the store reports that later, as it is another watch of the
 * stream.  The taker keeps its lease until it knows: an operator that took the permit back has left
 * e/ on that lease.
 */
void
hold_asked(struct fleet_taker *t)
{
	taker_hush(t, BEAT);
	taker_hush(t, CHECK);
	hold_beat(t);
}

/* ---- attached again ---- */

static void
attached_at(struct fleet_taker *t, int64_t revision)
{
	bool reported = t->reported;

	t->attached = revision;
	t->proven_ns = t->alive_ns;
	taker_go(t, HOLDING);
	lease_keep(t);
	report_held(t, reported ? FLEET_RENEWED : FLEET_GRANTED);
	if (reported && !t->freed)
		taker_note(t, t->revoked ? "its lease was revoked, or the store ended it too "
					   "early: the permit is kept on another"
					 : "the store treated it as dead, but heard from it in "
					   "time: the permit is kept");
}

/*
 * Another txn has put l/ meanwhile: one of ours that had no answer, or a late one from the keeper
 * that had this taker before.  The taker takes over that lease; a renewal will show how long it
 * lasts.
 */
static void
go_on_with(struct fleet_taker *t, int64_t lease, int64_t revision)
{
	if (lease == t->lease) {
		attached_at(t, revision);
		return;
	}
	taker_drop_lease(t);
	t->lease = lease;
	t->attached = revision;
	taker_go(t, HOLDING);
	hold_beat(t);
}

static void
not_attached(struct fleet_taker *t, const struct records_answer *reply)
{
	int64_t created, lease;

	if (!read_both(reply, &created, &lease)) {
		taker_again(t);
	} else if (created != t->held_since) {
		taker_go(t, LOSING);
	} else if (lease == 0 || reply->revision < t->l_gone) {
		taker_drop_lease(t);
		taker_act(t);
	} else {
		go_on_with(t, lease, reply->revision);
	}
}

static void
attached(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result == RECORDS_NOLEASE) {
		taker_drop_lease(t);
		taker_act(t);
	} else if (reply->result != RECORDS_OK) {
		taker_again(t);
	} else if (!reply->held) {
		not_attached(t, reply);
	} else if (reply->revision < t->l_gone) {
		taker_drop_lease(t);
		taker_act(t);
	} else {
		attached_at(t, reply->revision);
	}
}

/* Puts l/ only if it is absent: a late put would attach it to a lease that nobody renews. */
void
attaching_act(struct fleet_taker *t)
{
	struct key h = taker_key(t, 'h'), l = taker_key(t, 'l');
	struct key s = taker_key(t, 's'), g = taker_key(t, 't');
	struct txn *x;

	if (t->slot[MAIN].call != NULL)
		return;
	if (!taker_is_fresh(t)) {
		if (t->leased)
			taker_drop_lease(t);
		lease_ask(t);
		return;
	}
	x = txn_new();
	txn_if_created(x, h.s, t->held_since);
	txn_if_absent(x, l.s, NULL);
	txn_put(x, l.s, "", 0, t->lease);
	txn_delete(x, s.s, NULL);
	txn_delete(x, g.s, NULL);
	txn_otherwise(x);
	add_both(t, x);
	taker_txn(t, MAIN, x, attached);
}
