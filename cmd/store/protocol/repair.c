/* SPDX-License-Identifier: ISC */
/*
 * repair.c - see repair.h.
 */
#include "repair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "round.h"
#include "run.h"
#include "taker/taker.h"

#define PUT_OFF SECOND
#define OTHERS  8 /* operations of a reclaim besides three for each taker */

void
repair_free(struct suspects *s)
{
	free(s->s);
	*s = (struct suspects){ .due_ns = UINT64_MAX };
}

/* ---- whose takers ---- */

static bool
is_dead(const struct fleet_taker *t, const struct look_taker *x)
{
	return strcmp(x->record.life, t->fleet->life.name) != 0 && !look_is_alive(&t->look, x);
}

/* The first of the dead waiters that stand right before the taker; all, if it does not wait. */
static size_t
first_dead(const struct fleet_taker *t, size_t *end)
{
	const struct look *l = &t->look;
	size_t i, first;

	for (i = 0; i < l->waiters && strcmp(l->waiter[i].self, t->self) != 0; i++)
		;
	*end = i;
	for (first = i; first > 0 && is_dead(t, &l->waiter[first - 1]); first--)
		;
	return first;
}

/* Goes through those that the taker has to care for: the next are these. */
struct walk {
	size_t holder, waiter, end;
};

static struct walk
walk(const struct fleet_taker *t, bool holders)
{
	struct walk w = { .holder = holders ? 0 : t->look.holders };

	w.waiter = first_dead(t, &w.end);
	return w;
}

/* NULL: there are no more. */
static const struct look_taker *
next(const struct fleet_taker *t, struct walk *w)
{
	const struct look *l = &t->look;
	const struct look_taker *h;

	while (w->holder < l->holders) {
		h = &l->holder[w->holder++];
		if (!h->record.manual && is_dead(t, h))
			return h;
	}
	return w->waiter < w->end ? &l->waiter[w->waiter++] : NULL;
}

/* The same, of those whose life is handled now. */
static const struct look_taker *
next_suspect(const struct fleet_taker *t, struct walk *w)
{
	const struct look_taker *x;

	while ((x = next(t, w)) != NULL && strcmp(x->record.life, t->suspects.life) != 0)
		;
	return x;
}

static bool
holds(const struct fleet_taker *t, const struct look_taker *x)
{
	return x >= t->look.holder && x < t->look.holder + t->look.holders;
}

bool
repair_any(const struct fleet_taker *t, bool holders)
{
	struct walk w;

	if (!t->look.has_lives)
		return false;
	w = walk(t, holders);
	return next(t, &w) != NULL;
}

/* ---- what is remembered of a life ---- */

/* They are in the order of their names.  NULL for want of memory. */
static struct suspect *
suspect(struct fleet_taker *t, const char *life)
{
	struct suspects *s = &t->suspects;
	size_t from = look_place(s->s, s->n, sizeof(*s->s), life);

	if (from < s->n && strcmp(s->s[from].life, life) == 0)
		return &s->s[from];
	if (s->n == s->room) {
		struct suspect *more = reallocarray(s->s, s->room + 16, sizeof(*more));
		if (more == NULL)
			return NULL;
		s->s = more;
		s->room += 16;
	}
	memmove(&s->s[from + 1], &s->s[from], (s->n++ - from) * sizeof(s->s[0]));
	s->s[from] = (struct suspect){ .seen = 0 };
	memcpy(s->s[from].life, life, STORE_SELF);
	return &s->s[from];
}

/* What the look has of it: all zero, if it was never marked. */
static struct look_life *
life_of(struct fleet_taker *t, const char *name)
{
	return look_add_life(&t->look, name);
}

static void
ripe_at(struct fleet_taker *t, uint64_t at)
{
	struct suspect *s = suspect(t, t->suspects.life);

	if (s != NULL)
		s->ripe_ns = at;
}

static void
put_off(struct fleet_taker *t)
{
	ripe_at(t, flki_boottime_ns() + PUT_OFF);
	taker_act(t);
}

/* The longest of its takers'. */
static uint32_t
grace_of(const struct fleet_taker *t, bool holders)
{
	struct walk w = walk(t, holders);
	const struct look_taker *x;
	uint32_t grace = 0;

	while ((x = next_suspect(t, &w)) != NULL)
		if (x->record.grace_s > grace)
			grace = x->record.grace_s;
	return grace;
}

/* ---- taking back ---- */

static void
reclaimed(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result == RECORDS_OK && a->held)
		t->freed_some = true;
	ripe_at(t, flki_boottime_ns() + PUT_OFF);
	if (t->state == FIRST || t->state == BEHIND)
		taker_go(t, LOOKING);
	else
		taker_act(t);
}

static void
add_deletions(struct txn *x, const struct look *l, const struct look_taker *k, bool holds)
{
	struct key h = key_of(&l->limiter, 'h', k->self), w = key_of(&l->limiter, 'w', k->self);
	struct key p = key_of(&l->limiter, 'p', k->self), tail = key_tail(&l->limiter);

	txn_if_changed(x, holds ? h.s : w.s, k->changed);
	txn_delete(x, holds ? h.s : w.s, NULL);
	txn_delete(x, p.s, NULL);
	run_add(x, &l->limiter,
		&(struct run){ .taker = *k, .held = holds, .end = RUN_REAPED, .code = holds });
	if (!holds && strcmp(l->tail, k->self) == 0) {
		txn_if_changed(x, tail.s, l->tail_mod);
		txn_delete(x, tail.s, NULL);
	}
}

static size_t
most(const struct fleet_taker *t)
{
	return (records_limits(t->fleet->store->records).operations - OTHERS) / 3;
}

/* As many of its takers as one transaction can hold; the mark goes with the last of them. */
static void
reclaim(struct fleet_taker *t, const struct look_life *life, bool holders)
{
	const struct key *p = &t->fleet->limiter;
	struct key l = key_of(p, 'l', life->name), l_end = key_end(&l),
		   s = key_of(p, 's', life->name);
	struct key g = key_of(p, 't', life->name);
	size_t n = 0;
	struct walk w = walk(t, holders);
	const struct look_taker *k;
	struct txn *x = txn_new();

	txn_if_changed(x, s.s, life->marked);
	txn_if_absent(x, l.s, l_end.s);
	while ((k = next_suspect(t, &w)) != NULL && n++ < most(t))
		add_deletions(x, &t->look, k, holds(t, k));
	if (k == NULL) {
		txn_delete(x, s.s, NULL);
		txn_delete(x, g.s, NULL);
	}
	taker_txn(t, DEAD, x, reclaimed);
}

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
		   k = key_of(p, holds(t, one) ? 'h' : 'w', one->self);

	txn_if_changed(x, k.s, one->changed);
	txn_put(x, s.s, t->self, strlen(t->self), 0);
}

/* Without an answer, the mark may have either revision: the repairer must read it. */
static void
grace_put(struct fleet_taker *t, const struct records_answer *a)
{
	struct look_life *life = life_of(t, t->suspects.life);

	if (life != NULL && a->result == RECORDS_OK && a->held) {
		life->marked = a->revision;
		life->grace = true;
	} else if (a->result == RECORDS_OK) {
		/* Without an answer t/ may stand on the lease, and would be gone too early. */
		fleet_revoke(t->fleet, t->suspects.grace_lease);
	}
	put_off(t);
}

/* Without a lease, the repairer relies on its own clock. */
static void
put_grace(struct fleet_taker *t, const struct records_answer *a)
{
	const struct key *p = &t->fleet->limiter;
	struct key s = key_of(p, 's', t->suspects.life), g = key_of(p, 't', t->suspects.life);
	const struct look_life *life = life_of(t, t->suspects.life);
	const struct look_taker *one = witness(t);
	struct txn *x;

	if (a->result != RECORDS_OK || one == NULL || life == NULL || life->leases > 0 ||
	    life->marked == 0) {
		if (a->result == RECORDS_OK)
			fleet_revoke(t->fleet, t->suspects.grace_lease);
		put_off(t);
		return;
	}
	x = txn_new();
	txn_if_changed(x, s.s, life->marked);
	add_mark(t, x, one);
	txn_put(x, g.s, "", 0, t->suspects.grace_lease);
	taker_txn(t, DEAD, x, grace_put);
}

static void
begin_grace(struct fleet_taker *t, bool holders)
{
	t->suspects.grace_lease = fleet_random_id();
	taker_lease(t, DEAD, t->suspects.grace_lease, grace_of(t, holders) + 1, put_grace);
}

/* ---- the mark ---- */

/* What the store has of it now, which may be another repairer's. */
static void
read_mark(struct fleet_taker *t, const struct records_answer *a)
{
	struct records_found s = records_found(a, 0), g = records_found(a, 1);
	struct look_life *life = life_of(t, t->suspects.life);

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
	struct suspect *s = suspect(t, t->suspects.life);

	if (a->result == RECORDS_OK && s != NULL) {
		read_mark(t, a);
		look_meet(&t->look, a);
		s->is_read = true;
		s->ripe_ns = 0;
		taker_act(t);
	} else {
		put_off(t);
	}
}

/* And who they are that would be taken back. */
static void
ask_mark(struct fleet_taker *t, bool holders)
{
	struct walk w = walk(t, holders);
	struct txn *x = txn_new();
	const struct look_taker *k;
	size_t n = 0;

	add_get_mark(t, x);
	while ((k = next_suspect(t, &w)) != NULL && n++ < most(t)) {
		struct key p = key_of(&t->fleet->limiter, 'p', k->self);
		txn_get(x, p.s, NULL);
	}
	taker_txn(t, DEAD, x, mark_is);
}

static void
marked(struct fleet_taker *t, const struct records_answer *a)
{
	struct look_life *life = life_of(t, t->suspects.life);

	if (a->result == RECORDS_OK && a->held && life != NULL)
		life->mark = life->marked = a->revision;
	else if (a->result == RECORDS_OK)
		read_mark(t, a);
	/* It is not marked by anybody if it is alive again, or what it had is gone. */
	if (a->result == RECORDS_OK && life != NULL && life->marked != 0) {
		ripe_at(t, 0);
		taker_act(t);
	} else {
		put_off(t);
	}
}

static bool
mark(struct fleet_taker *t)
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

/* ---- which comes next ---- */

/* The grace is over when t/ is gone, or a whole grace after we first saw this mark. */
static bool
is_over(struct fleet_taker *t, struct suspect *s, const struct look_life *life, bool holders)
{
	uint64_t now = flki_boottime_ns();

	if (s->seen != life->marked) {
		s->seen = life->marked;
		s->seen_ns = now;
	}
	return !life->grace || now >= s->seen_ns + grace_of(t, holders) * SECOND;
}

/* False: there is nothing to do now. */
static bool
handle(struct fleet_taker *t, struct suspect *s, bool holders)
{
	const struct look_life *life = life_of(t, s->life);
	bool is_read = s->is_read;

	memcpy(t->suspects.life, s->life, STORE_SELF);
	s->ripe_ns = flki_boottime_ns() + PUT_OFF;
	s->is_read = false;
	if (life == NULL)
		return false;
	if (life->marked == 0) {
		return mark(t);
	} else if (life->mark == life->marked) {
		begin_grace(t, holders);
	} else if (!is_read) {
		ask_mark(t, holders);
	} else {
		if (!is_over(t, s, life, holders))
			return false;
		reclaim(t, life, holders);
	}
	return t->slot[DEAD].call != NULL;
}

bool
repair_act(struct fleet_taker *t, bool holders)
{
	uint64_t now = flki_boottime_ns();
	const struct look_taker *x;
	struct walk w;

	t->suspects.due_ns = UINT64_MAX;
	if (!t->look.has_lives)
		return false;
	if (t->slot[DEAD].call != NULL)
		return true;
	for (w = walk(t, holders); (x = next(t, &w)) != NULL;) {
		struct suspect *s = suspect(t, x->record.life);
		if (s != NULL && s->ripe_ns <= now && handle(t, s, holders))
			return true;
		if (s != NULL && s->ripe_ns < t->suspects.due_ns)
			t->suspects.due_ns = s->ripe_ns;
	}
	return false;
}
