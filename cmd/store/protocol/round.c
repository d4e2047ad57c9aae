/* SPDX-License-Identifier: ISC */
/*
 * round.c - see round.h: a round's plan, and its transaction.
 */
#include "round.h"

#include <stdlib.h>
#include <string.h>

#include "batch.h"
#include "room.h"

#define OTHERS 19 /* operations of its transaction besides two for each waiter */

/* ---- the plan ---- */

static bool
is(const struct look_taker *t, const char *self)
{
	return self != NULL && strcmp(t->self, self) == 0;
}

static void
plan(struct round *r, const struct look_taker *w, uint32_t limit, uint32_t under, uint32_t seat)
{
	struct grant *g = &r->grant[r->n++];

	g->waiter = w;
	g->record = w->record;
	g->record.ticket = (uint64_t)w->created;
	g->record.limit = r->declared = limit;
	g->record.under = under;
	g->record.seat = seat;
	g->record.since_ms = record_now_ms();
}

/* How a waiter ends the round, or is passed. */
enum standing { NEXT, PASSED, IN_THE_WAY };

/*
 * One that is dead keeps its place until its grace is over; and one may only grant itself.  In a fair limiter
 * others pass both; but not the first in the line, which watches, and grants itself when it has its turn.
 */
static enum standing
standing(const struct look *l, const struct look_taker *w, const char *self, bool leaves)
{
	bool dead = l->has_lives && !look_is_alive(l, w);

	if (leaves && is(w, self))
		return PASSED;
	if (!dead && (!w->record.manual || is(w, self)) && w->record.life[0] != '\0')
		return NEXT;
	if (l->config.fair == FLK_FAIR_OFF)
		return IN_THE_WAY;
	return !dead && w->record.manual && w == l->waiter ? IN_THE_WAY : PASSED;
}

/* Grants what fits to the waiter: false, if no other may follow. */
static bool
grant(struct round *r, struct room *room, const struct look_taker *w, size_t most)
{
	uint32_t limit = room_own(w->record.limit, r->declared, w->record.under), under, seat;

	if (!room_fits(room, w->record.weight, limit, &under)) {
		r->stopped = w;
		return false;
	}
	if (r->n == most || r->n == LOOK_FIRST) {
		r->end.more = true;
		return false;
	}
	seat = room_seat(room);
	plan(r, w, limit, under, seat);
	starts_count(&r->look->config.pace, &r->starts, room);
	turns_give(&r->turns, r->look->config.fair, &w->record);
	room_add(room, w->record.weight, limit, seat);
	return true;
}

/* In the order of the rank, or without one in that of the tickets. */
static void
grant_all(struct round *r, struct room *room, const struct rank *rank, size_t n, const char *self,
	  bool leaves, size_t most)
{
	const struct look *look = r->look;
	enum standing stands;
	size_t i;

	for (i = 0; i < n; i++) {
		const struct look_taker *w = &look->waiter[rank != NULL ? rank[i].at : i];

		stands = standing(look, w, self, leaves);
		if (stands == IN_THE_WAY || (stands == NEXT && !grant(r, room, w, most)))
			return;
	}
	r->end.whole = look->in_line == look->waiters;
	r->end.more = !r->end.whole;
}

void
round_plan(struct round *r, const struct look *look, const char *self, bool leaves,
	   size_t operations)
{
	struct room room = { .set = &look->config, .starts = &r->starts };
	size_t most = operations < OTHERS + 2 ? 1 : (operations - OTHERS) / 2, n = look->waiters;
	struct rank *rank = NULL;

	r->look = look;
	r->lax = false;
	r->starts = look->starts;
	r->turns = look->turns != NULL ? *look->turns : (struct turns){ .changed = 0 };
	if (leaves)
		starts_rest(&r->starts);
	r->n = 0;
	r->stopped = NULL;
	r->declared = look->config.declared;
	r->end =
	    (struct round_end){ .revision = look->read, .fair = look->config.fair != FLK_FAIR_OFF };
	if (operations == 0 || look_is_short(look))
		return;
	if (look->config.fair != FLK_FAIR_OFF && (rank = look_rank(look, &n)) == NULL)
		return;
	look_fill(look, &room, leaves ? self : NULL);
	grant_all(r, &room, rank, n, self, leaves, most);
	free(rank);
}

const struct record *
round_gives(const struct round *r, const char *self)
{
	size_t i;

	for (i = 0; i < r->n; i++)
		if (is(r->grant[i].waiter, self))
			return &r->grant[i].record;
	return NULL;
}

/* ---- the transaction ---- */

void
round_add_compares(const struct round *r, struct txn *x)
{
	const struct key *limiter = r->look->limiter;
	struct key h = key_of(limiter, 'h', NULL), end = key_end(&h);
	struct key line = key_of(limiter, 'w', NULL), line_end = key_end(&line);
	size_t i;

	txn_if_changed(x, limiter->s, r->look->config_mod);
	txn_if_no_news(x, h.s, end.s, r->look->revision);
	starts_add_compare(&r->look->config.pace, &r->look->starts, x, limiter);
	turns_add_compare(r->look->config.fair, r->look->turns, x, limiter);
	if (r->look->config.fair != FLK_FAIR_OFF && r->n > 0 && !r->lax)
		txn_if_no_news(x, line.s, line_end.s, r->look->read); /* that may be the next */
	for (i = 0; i < r->n; i++) {
		struct key w = key_of(limiter, 'w', r->grant[i].waiter->self);
		txn_if_created(x, w.s, r->grant[i].waiter->created);
	}
}

void
round_add_declared(const struct round *r, struct txn *x)
{
	struct flk_settings c = r->look->config;
	char *config;

	if (r->declared == c.declared)
		return;
	c.declared = r->declared;
	if ((config = config_encode(&c, NULL)) == NULL) {
		if (x != NULL)
			x->failed = true;
		return;
	}
	txn_put(x, r->look->limiter->s, config, strlen(config), 0);
	free(config);
}

/* Others may wait behind whom none stands then: the next one that comes finds out. */
static bool
grants_tail(const struct round *r)
{
	return r->look->config.fair != FLK_FAIR_OFF && round_gives(r, r->look->tail) != NULL;
}

void
round_add_grants(const struct round *r, struct txn *x)
{
	const struct key *limiter = r->look->limiter;
	struct key tail = key_tail(limiter), bell = key_bell(limiter);
	char text[RECORD_TEXT];
	size_t i;

	for (i = 0; i < r->n; i++) {
		const struct grant *g = &r->grant[i];
		struct key w = key_of(limiter, 'w', g->waiter->self);
		struct key h = key_of(limiter, 'h', g->waiter->self);
		size_t size = record_encode(text, &g->record);

		txn_delete(x, w.s, NULL);
		txn_put(x, h.s, text, size, 0);
	}
	round_add_declared(r, x);
	starts_put(&r->look->config.pace, &r->starts, x, limiter);
	turns_put(r->look->config.fair, &r->turns, x, limiter);
	batch_put(r, x);
	if (grants_tail(r))
		txn_delete(x, tail.s, NULL);
	txn_get(x, tail.s, NULL)->keys_only = true;
	txn_get(x, bell.s, NULL)->keys_only = true;
}

/* Whether what the answer gave at that place, from its end, is younger than that. */
static bool
is_news(const struct records_answer *a, size_t from_end, int64_t revision)
{
	struct records_found f = records_found(a, a->n - from_end);

	return f.n > 0 && f.kv[0].changed > revision;
}

bool
round_goes_on(const struct round_end *end, const struct records_answer *a)
{
	if (!a->held)
		return end->fair;
	return end->more || is_news(a, 1, end->revision) ||
	       (end->whole && is_news(a, 2, end->revision));
}

void
round_ring(struct txn *x, const struct key *limiter)
{
	struct key bell = key_bell(limiter);

	txn_put(x, bell.s, "", 0, 0);
}

void
round_add_silence(struct txn *x, const struct key *limiter)
{
	struct key batch = key_batch(limiter), bell = key_bell(limiter), end = key_end(&bell);
	struct key tail = key_tail(limiter);

	txn_delete(x, batch.s, end.s);
	txn_delete(x, tail.s, NULL);
}
