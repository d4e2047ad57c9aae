/* SPDX-License-Identifier: ISC */
/*
 * repair.c - see repair.h: whose takers are dead, what is remembered of their lives, and what is taken back.
 */
#include "repair_inside.h"

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

struct repair_walk
repair_walk(const struct fleet_taker *t, bool holders)
{
	struct repair_walk w = { .holder = holders ? 0 : t->look.holders };

	w.waiter = first_dead(t, &w.end);
	return w;
}

/* NULL: there are no more. */
static const struct look_taker *
next(const struct fleet_taker *t, struct repair_walk *w)
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

const struct look_taker *
repair_next(const struct fleet_taker *t, struct repair_walk *w)
{
	const struct look_taker *x;

	while ((x = next(t, w)) != NULL && strcmp(x->record.life, t->suspects.life) != 0)
		;
	return x;
}

bool
repair_holds(const struct fleet_taker *t, const struct look_taker *x)
{
	return x >= t->look.holder && x < t->look.holder + t->look.holders;
}

bool
repair_any(const struct fleet_taker *t, bool holders)
{
	struct repair_walk w;

	if (!t->look.has_lives)
		return false;
	w = repair_walk(t, holders);
	return next(t, &w) != NULL;
}

/* ---- what is remembered of a life ---- */

/* They are in the order of their names. */
struct suspect *
repair_suspect(struct fleet_taker *t, const char *life)
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

struct look_life *
repair_life(struct fleet_taker *t, const char *name)
{
	return look_add_life(&t->look, name);
}

void
repair_ripe_at(struct fleet_taker *t, uint64_t at)
{
	struct suspect *s = repair_suspect(t, t->suspects.life);

	if (s != NULL)
		s->ripe_ns = at;
}

void
repair_put_off(struct fleet_taker *t)
{
	repair_ripe_at(t, flki_boottime_ns() + PUT_OFF);
	taker_act(t);
}

uint32_t
repair_grace(const struct fleet_taker *t, bool holders)
{
	struct repair_walk w = repair_walk(t, holders);
	const struct look_taker *x;
	uint32_t grace = 0;

	while ((x = repair_next(t, &w)) != NULL)
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
	repair_ripe_at(t, flki_boottime_ns() + PUT_OFF);
	if (t->state == FIRST || t->state == BEHIND)
		taker_go(t, LOOKING);
	else
		taker_act(t);
}

static void
add_deletions(struct txn *x, const struct look *l, const struct look_taker *k, bool holds)
{
	struct key h = key_of(l->limiter, 'h', k->self), w = key_of(l->limiter, 'w', k->self);
	struct key p = key_of(l->limiter, 'p', k->self), tail = key_tail(l->limiter);

	txn_if_changed(x, holds ? h.s : w.s, k->changed);
	txn_delete(x, holds ? h.s : w.s, NULL);
	txn_delete(x, p.s, NULL);
	run_add(x, l->limiter,
		&(struct run){ .taker = *k, .held = holds, .end = RUN_REAPED, .code = holds });
	if (!holds && strcmp(l->tail, k->self) == 0) {
		txn_if_changed(x, tail.s, l->tail_mod);
		txn_delete(x, tail.s, NULL);
	}
}

size_t
repair_most(const struct fleet_taker *t)
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
	struct repair_walk w = repair_walk(t, holders);
	const struct look_taker *k;
	struct txn *x = txn_new();
	bool rests = false;

	txn_if_changed(x, s.s, life->marked);
	txn_if_absent(x, l.s, l_end.s);
	while ((k = repair_next(t, &w)) != NULL && n++ < repair_most(t)) {
		rests |= repair_holds(t, k);
		add_deletions(x, &t->look, k, repair_holds(t, k));
	}
	if (rests)
		starts_put_rest(&t->look.config.pace, &t->look.starts, x, p);
	if (k == NULL) {
		txn_delete(x, s.s, NULL);
		txn_delete(x, g.s, NULL);
	}
	taker_txn(t, DEAD, x, reclaimed);
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
	return !life->grace || now >= s->seen_ns + repair_grace(t, holders) * SECOND;
}

/* False: there is nothing to do now. */
static bool
handle(struct fleet_taker *t, struct suspect *s, bool holders)
{
	const struct look_life *life = repair_life(t, s->life);
	bool is_read = s->is_read;

	memcpy(t->suspects.life, s->life, STORE_SELF);
	s->ripe_ns = flki_boottime_ns() + PUT_OFF;
	s->is_read = false;
	if (life == NULL)
		return false;
	if (life->marked == 0) {
		return repair_mark(t);
	} else if (life->mark == life->marked) {
		repair_begin_grace(t, holders);
	} else if (!is_read) {
		repair_ask_mark(t, holders);
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
	struct repair_walk w;

	t->suspects.due_ns = UINT64_MAX;
	if (!t->look.has_lives)
		return false;
	if (t->slot[DEAD].call != NULL)
		return true;
	for (w = repair_walk(t, holders); (x = next(t, &w)) != NULL;) {
		struct suspect *s = repair_suspect(t, x->record.life);
		if (s != NULL && s->ripe_ns <= now && handle(t, s, holders))
			return true;
		if (s != NULL && s->ripe_ns < t->suspects.due_ns)
			t->suspects.due_ns = s->ripe_ns;
	}
	return false;
}
