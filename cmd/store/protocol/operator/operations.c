/* SPDX-License-Identifier: ISC */
/*
 * operations.c - what an operator does to a limiter, each as one txn.
 */
#include "ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "setting.h"

static struct txn *
steering(struct ask *a, int *code)
{
	const struct flk_settings *old = &a->look.config;
	struct flk_settings new = *old;
	struct culprit me;
	struct txn *x;
	char *value;

	flki_settings_set(&new, a->q.which, &a->q.to);
	*code = 0;
	if (a->look.config_mod != 0 && flki_settings_same(&new, old))
		return NULL;
	culprit_me(&me);
	value = config_encode(&new, &me);
	if (value == NULL) {
		*code = -ENOMEM;
		return NULL;
	}
	x = txn_new();
	txn_if_changed(x, a->look.limiter.s, a->look.config_mod);
	txn_put(x, a->look.limiter.s, value, strlen(value), 0);
	free(value);
	return x;
}

/* ---- an operator evicts a taker ---- */

/* The operator's name, for the evicted taker to read; on its lease, and so never left behind. */
static void
add_culprit(struct txn *x, const struct ask *a, const char *self, int64_t lease)
{
	struct key e = key_of(&a->look.limiter, 'e', self);
	struct culprit me;
	char *value;

	culprit_me(&me);
	value = culprit_encode(&me);
	txn_put(x, e.s, value != NULL ? value : "", value != NULL ? strlen(value) : 0, lease);
	free(value);
}

static struct txn *
cancelling(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	struct txn *x;
	struct key w;
	size_t i;

	for (i = 0; i < l->waiters && (uint64_t)l->waiter[i].created != a->q.ticket; i++)
		;
	*code = a->unsure ? 0 : -FLK_NOPERMIT;
	if (i == l->waiters)
		return NULL;
	w = key_of(&l->limiter, 'w', l->waiter[i].self);
	x = txn_new();
	txn_if_created(x, w.s, l->waiter[i].created);
	txn_delete(x, w.s, NULL);
	if (l->waiter[i].lease != 0)
		add_culprit(x, a, l->waiter[i].self, l->waiter[i].lease);
	return x;
}

static uint64_t
ticket_of(const struct look_holder *h)
{
	return h->record.ticket != 0 ? h->record.ticket : (uint64_t)h->created;
}

static struct txn *
breaking(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	static const char kinds[] = { 'h', 'l', 's', 't' };
	const struct look_holder *holder;
	struct txn *x;
	struct key k;
	size_t i;

	for (i = 0; i < l->holders && ticket_of(&l->holder[i]) != a->q.ticket; i++)
		;
	*code = a->unsure ? 0 : -FLK_NOPERMIT;
	if (i == l->holders)
		return NULL;
	holder = &l->holder[i];
	x = txn_new();
	for (i = 0; i < sizeof(kinds); i++) {
		k = key_of(&l->limiter, kinds[i], holder->self);
		if (kinds[i] == 'h')
			txn_if_changed(x, k.s, holder->mod);
		txn_delete(x, k.s, NULL);
	}
	if (holder->alive && holder->lease != 0)
		add_culprit(x, a, holder->self, holder->lease);
	return x;
}

/* ---- removing all of it ---- */

static bool
may_remove(const struct ask *a)
{
	return a->q.kind == ASK_REMOVE ||
	       !flki_settings_steer(FLK_SET_PAUSED | FLK_SET_CLOSED | FLK_SET_OVERRIDE,
				    &a->look.config);
}

/* Deletes kind by kind, so that no key goes that is not the limiter's. */
static struct txn *
removal(struct ask *a, int *code)
{
	static const char kinds[] = { 'e', 'h', 'l', 's', 't', 'w', 'x' };
	const struct look *l = &a->look;
	struct key tail = key_tail(&l->limiter);
	struct txn *x;
	size_t i;

	*code = -FLK_BUSY;
	if (l->holders > 0 || l->waiters > 0 || !may_remove(a))
		return NULL;
	x = txn_new();
	txn_if_changed(x, l->limiter.s, l->config_mod);
	txn_delete(x, l->limiter.s, NULL);
	txn_delete(x, tail.s, NULL);
	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = key_of(&l->limiter, kinds[i], NULL), end = key_end(&k);

		if (kinds[i] == 'h' || kinds[i] == 'w')
			txn_if_absent(x, k.s, end.s);
		txn_delete(x, k.s, end.s);
	}
	return x;
}

static bool
removes_it(const struct ask *a)
{
	return a->q.kind == ASK_REMOVE || a->q.kind == ASK_REMOVE_UNUSED;
}

struct txn *
operation_txn(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	bool removes = removes_it(a);

	if (l->config_mod == 0 && l->holders == 0 && l->waiters == 0 &&
	    (a->q.kind != ASK_SET || (a->q.which & FLK_SET_DECLARED) == 0)) {
		*code = a->unsure && removes ? 0 : -ENOENT;
		return NULL;
	}
	if (removes)
		return removal(a, code);
	if (a->q.kind == ASK_CANCEL)
		return cancelling(a, code);
	if (a->q.kind == ASK_BREAK)
		return breaking(a, code);
	return steering(a, code);
}
