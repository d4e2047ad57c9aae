/* SPDX-License-Identifier: ISC */
/*
 * operations.c - what an operator does to a limiter, each as one txn.
 */
#include "ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/round.h"
#include "protocol/run.h"
#include "protocol/steering.h"
#include "setting.h"

static struct txn *
steering(struct ask *a, int *code)
{
	struct person me;

	person_me(&me);
	return steering_txn(&a->look, a->q.which, &a->q.to, &me, code);
}

/* ---- an operator evicts a taker ---- */

/* The operator's name, for the evicted taker to read; on its lease, and so never left behind. */
static void
add_operator(struct txn *x, const struct ask *a, const char *self, int64_t lease)
{
	struct key e = key_of(a->look.limiter, 'e', self);
	struct person me;
	char *value;

	person_me(&me);
	value = person_encode(&me);
	txn_put(x, e.s, value != NULL ? value : "", value != NULL ? strlen(value) : 0, lease);
	free(value);
}

static const struct look_taker *
with_ticket(const struct look_taker *t, size_t n, uint64_t ticket)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (look_ticket(&t[i]) == ticket)
			return &t[i];
	return NULL;
}

/* Deletes its place or permit, as it was at the look. */
static struct txn *
evicting(struct ask *a, const struct look_taker *t, char kind, int *code)
{
	const struct look *l = &a->look;
	struct run run = { .held = kind == 'h', .end = RUN_EVICTED, .code = -FLK_EVICTED };
	struct key k, p, tail = key_tail(l->limiter);
	const struct look_life *life;
	struct txn *x;

	*code = a->unsure ? 0 : -FLK_NOPERMIT;
	if (t == NULL)
		return NULL;
	k = key_of(l->limiter, kind, t->self);
	p = key_of(l->limiter, 'p', t->self);
	life = look_life(l, t->record.life);
	x = txn_new();
	txn_if_changed(x, k.s, t->changed);
	txn_delete(x, k.s, NULL);
	txn_delete(x, p.s, NULL);
	run.taker = *t;
	person_me(&run.by);
	run_add(x, l->limiter, &run);
	if (kind == 'h')
		starts_put_rest(&l->config.pace, &l->starts, x, l->limiter);
	if (strcmp(l->tail, t->self) == 0) {
		txn_if_changed(x, tail.s, l->tail_mod);
		txn_delete(x, tail.s, NULL);
	}
	/* Other takers of that life are suspect still: they are marked anew. */
	if (life != NULL && life->leases > 0)
		add_operator(x, a, t->self, life->lease);
	else
		life_add_unmark(l->limiter, t->record.life, x);
	return x;
}

/* ---- removing all of it ---- */

/* Deletes kind by kind, so that no key goes that is not the limiter's. */
static struct txn *
removal(struct ask *a, int *code)
{
	static const char kinds[] = { 'e', 'h', 'l', 'm', 'n', 'p', 's', 't', 'w' };
	const struct look *l = &a->look;
	struct txn *x;
	size_t i;

	*code = -FLK_BUSY;
	if (l->holders > 0 || l->waiters > 0 ||
	    (a->q.kind == ASK_REMOVE_UNUSED &&
	     flki_settings_steer(FLK_SET_PAUSED | FLK_SET_CLOSED | FLK_SET_OVERRIDE, &l->config)))
		return NULL;
	x = txn_new();
	txn_if_changed(x, l->limiter->s, l->config_mod);
	txn_delete(x, l->limiter->s, NULL);
	round_add_silence(x, l->limiter);
	starts_delete(x, l->limiter);
	turns_delete(x, l->limiter);
	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = key_of(l->limiter, kinds[i], NULL), end = key_end(&k);

		if (kinds[i] == 'h' || kinds[i] == 'w')
			txn_if_absent(x, k.s, end.s);
		txn_delete(x, k.s, end.s);
	}
	return x;
}

struct txn *
operation_txn(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	bool removes = a->q.kind == ASK_REMOVE || a->q.kind == ASK_REMOVE_UNUSED;

	if (l->config_mod == 0 && l->holders == 0 && l->waiters == 0 &&
	    (a->q.kind != ASK_SET ||
	     (a->q.which & (FLK_SET_DECLARED | FLK_SET_PACE | FLK_SET_FAIR)) == 0)) {
		*code = a->unsure && removes ? 0 : -ENOENT;
		return NULL;
	}
	if (removes)
		return removal(a, code);
	if (a->q.kind == ASK_CANCEL)
		return evicting(a, with_ticket(l->waiter, l->waiters, a->q.ticket), 'w', code);
	if (a->q.kind == ASK_BREAK)
		return evicting(a, with_ticket(l->holder, l->holders, a->q.ticket), 'h', code);
	return steering(a, code);
}
