/* SPDX-License-Identifier: ISC */
/*
 * repair_mark.c - the mark of a life that is suspect, and its grace: see repair.h.
 */
#include "repair_inside.h"

#include <string.h>

#include "taker/taker.h"

/* ---- its grace ---- */

/* Any taker of that life that the look has; NULL: there is none. */
static const struct look_taker *
witness(const struct fleet_taker *t)
{
	const struct look *l = &t->look;
	size_t i;

	for (i = 0; i < l->holders; i++)
		if (strcmp(l->holder[i].record.life, t->suspects.life) == 0)
			return &l->holder[i];
	for (i = 0; i < l->waiters; i++)
		if (strcmp(l->waiter[i].record.life, t->suspects.life) == 0)
			return &l->waiter[i];
	return NULL;
}

/* Only as long as a taker of that life is as it was: otherwise nobody might ever delete the mark. */
static void
add_mark(const struct fleet_taker *t, struct txn *x, const struct look_taker *one)
{
	const struct key *p = &t->fleet->limiter;
	struct key s = key_of(p, 's', t->suspects.life),
		   k = key_of(p, repair_holds(t, one) ? 'h' : 'w', one->self);

	txn_if_changed(x, k.s, one->changed);
	txn_put(x, s.s, t->self, strlen(t->self), 0);
}

/* Without an answer, the mark may have either revision: the repairer must read it. */
static void
grace_put(struct fleet_taker *t, const struct records_answer *a)
{
	struct look_life *life = repair_life(t, t->suspects.life);

	if (life != NULL && a->result == RECORDS_OK && a->held) {
		life->marked = a->revision;
		life->grace = true;
	} else if (a->result == RECORDS_OK) {
		/* Without an answer t/ may stand on the lease, and would be gone too early. */
		fleet_revoke(t->fleet, t->suspects.grace_lease);
	}
	repair_put_off(t);
}

/* Without a lease, the repairer relies on its own clock. */
static void
put_grace(struct fleet_taker *t, const struct records_answer *a)
{
	const struct key *p = &t->fleet->limiter;
	struct key s = key_of(p, 's', t->suspects.life), g = key_of(p, 't', t->suspects.life);
	const struct look_life *life = repair_life(t, t->suspects.life);
	const struct look_taker *one = witness(t);
	struct txn *x;

	if (a->result != RECORDS_OK || one == NULL || life == NULL || life->leases > 0 ||
	    life->marked == 0) {
		if (a->result == RECORDS_OK)
			fleet_revoke(t->fleet, t->suspects.grace_lease);
		repair_put_off(t);
		return;
	}
	x = txn_new();
	txn_if_changed(x, s.s, life->marked);
	add_mark(t, x, one);
	txn_put(x, g.s, "", 0, t->suspects.grace_lease);
	taker_txn(t, DEAD, x, grace_put);
}

void
repair_begin_grace(struct fleet_taker *t, bool holders)
{
	t->suspects.grace_lease = fleet_random_id();
	taker_lease(t, DEAD, t->suspects.grace_lease, repair_grace(t, holders) + 1, put_grace);
}

/* ---- the mark ---- */

/* What the store has of it now, which may be another repairer's. */
static void
read_mark(struct fleet_taker *t, const struct records_answer *a)
{
	struct records_found s = records_found(a, 0), g = records_found(a, 1);
	struct look_life *life = repair_life(t, t->suspects.life);

	if (life == NULL || life->leases > 0)
		return;
	life->mark = s.n > 0 ? s.kv[0].created : 0;
	life->marked = s.n > 0 ? s.kv[0].changed : 0;
	life->grace = g.n > 0;
}

static void
add_get_mark(const struct fleet_taker *t, struct txn *x)
{
	struct key s = key_of(&t->fleet->limiter, 's', t->suspects.life);
	struct key g = key_of(&t->fleet->limiter, 't', t->suspects.life);

	txn_get(x, s.s, NULL)->keys_only = true;
	txn_get(x, g.s, NULL)->keys_only = true;
}

static void
mark_is(struct fleet_taker *t, const struct records_answer *a)
{
	struct suspect *s = repair_suspect(t, t->suspects.life);

	if (a->result == RECORDS_OK && s != NULL) {
		read_mark(t, a);
		look_meet(&t->look, a);
		s->is_read = true;
		s->ripe_ns = 0;
		taker_act(t);
	} else {
		repair_put_off(t);
	}
}

void
repair_ask_mark(struct fleet_taker *t, bool holders)
{
	struct repair_walk w = repair_walk(t, holders);
	struct txn *x = txn_new();
	const struct look_taker *k;
	size_t n = 0;

	add_get_mark(t, x);
	while ((k = repair_next(t, &w)) != NULL && n++ < repair_most(t)) {
		struct key p = key_of(&t->fleet->limiter, 'p', k->self);
		txn_get(x, p.s, NULL);
	}
	taker_txn(t, DEAD, x, mark_is);
}

static void
marked(struct fleet_taker *t, const struct records_answer *a)
{
	struct look_life *life = repair_life(t, t->suspects.life);

	if (a->result == RECORDS_OK && a->held && life != NULL)
		life->mark = life->marked = a->revision;
	else if (a->result == RECORDS_OK)
		read_mark(t, a);
	/* It is not marked by anybody if it is alive again, or what it had is gone. */
	if (a->result == RECORDS_OK && life != NULL && life->marked != 0) {
		repair_ripe_at(t, 0);
		taker_act(t);
	} else {
		repair_put_off(t);
	}
}

bool
repair_mark(struct fleet_taker *t)
{
	const struct look_taker *one = witness(t);
	const struct key *p = &t->fleet->limiter;
	struct key l = key_of(p, 'l', t->suspects.life), l_end = key_end(&l);
	struct key s = key_of(p, 's', t->suspects.life);
	struct txn *x;

	if (one == NULL)
		return false;
	x = txn_new();
	txn_if_absent(x, s.s, NULL);
	txn_if_absent(x, l.s, l_end.s);
	add_mark(t, x, one);
	txn_otherwise(x);
	add_get_mark(t, x);
	taker_txn(t, DEAD, x, marked);
	return true;
}
