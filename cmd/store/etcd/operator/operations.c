/* SPDX-License-Identifier: ISC */
/*
 * operations.c - what an operator does to a limiter, each as one txn.
 */
#include "ask.h"

#include <errno.h>
#include <stdlib.h>

#include "setting.h"

/* Compares that cfg has not changed since the look. */
static json_t *
if_same_config(const struct look *l)
{
	return l->config_mod != 0 ? etcd_if_mod(l->limiter.s, l->config_mod)
				  : etcd_if_absent(l->limiter.s, NULL);
}

static json_t *
steering(struct ask *a, int *code)
{
	const struct flk_settings *old = &a->look.config;
	struct flk_settings new = *old;
	struct culprit me;
	json_t *then;
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
	then = etcd_list(etcd_put(a->look.limiter.s, value, 0));
	free(value);
	return etcd_txn(etcd_list(if_same_config(&a->look)), then, NULL);
}

/* ---- an operator evicts a taker ---- */

/* The operator's name, for the evicted taker to read; on its lease, and so never left behind. */
static json_t *
put_culprit(const struct ask *a, const char *self, int64_t lease)
{
	struct key e = key_of(&a->look.limiter, 'e', self);
	struct culprit me;
	char *value;
	json_t *put;

	culprit_me(&me);
	value = culprit_encode(&me);
	put = etcd_put(e.s, value != NULL ? value : "", lease);
	free(value);
	return put;
}

static json_t *
delete_of(const struct ask *a, char kind, const char *self)
{
	struct key k = key_of(&a->look.limiter, kind, self);

	return etcd_delete(k.s, NULL);
}

static json_t *
cancelling(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	json_t *then;
	struct key w;
	size_t i;

	for (i = 0; i < l->waiters && (uint64_t)l->waiter[i].created != a->q.ticket; i++)
		;
	*code = a->unsure ? 0 : -FLK_NOPERMIT;
	if (i == l->waiters)
		return NULL;
	w = key_of(&l->limiter, 'w', l->waiter[i].self);
	then = etcd_list(etcd_delete(w.s, NULL));
	if (l->waiter[i].lease != 0)
		json_array_append_new(then, put_culprit(a, l->waiter[i].self, l->waiter[i].lease));
	return etcd_txn(etcd_list(etcd_if_created(w.s, l->waiter[i].created)), then, NULL);
}

static uint64_t
ticket_of(const struct look_holder *h)
{
	return h->record.ticket != 0 ? h->record.ticket : (uint64_t)h->created;
}

static json_t *
breaking(struct ask *a, int *code)
{
	const struct look *l = &a->look;
	const struct look_holder *holder;
	json_t *then;
	struct key h;
	size_t i;

	for (i = 0; i < l->holders && ticket_of(&l->holder[i]) != a->q.ticket; i++)
		;
	*code = a->unsure ? 0 : -FLK_NOPERMIT;
	if (i == l->holders)
		return NULL;
	holder = &l->holder[i];
	h = key_of(&l->limiter, 'h', holder->self);
	then = etcd_list(etcd_delete(h.s, NULL), delete_of(a, 'l', holder->self),
			 delete_of(a, 's', holder->self), delete_of(a, 't', holder->self));
	if (holder->alive && holder->lease != 0)
		json_array_append_new(then, put_culprit(a, holder->self, holder->lease));
	return etcd_txn(etcd_list(etcd_if_mod(h.s, holder->mod)), then, NULL);
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
static json_t *
removal(struct ask *a, int *code)
{
	static const char kinds[] = { 'e', 'h', 'l', 's', 't', 'w' };
	const struct look *l = &a->look;
	struct key tail = key_tail(&l->limiter);
	json_t *compares, *then;
	size_t i;

	*code = -FLK_BUSY;
	if (l->holders > 0 || l->waiters > 0 || !may_remove(a))
		return NULL;
	compares = etcd_list(if_same_config(l));
	then = etcd_list(etcd_delete(l->limiter.s, NULL), etcd_delete(tail.s, NULL));
	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = key_of(&l->limiter, kinds[i], NULL), end = key_end(&k);

		if (kinds[i] == 'h' || kinds[i] == 'w')
			json_array_append_new(compares, etcd_if_absent(k.s, end.s));
		json_array_append_new(then, etcd_delete(k.s, end.s));
	}
	return etcd_txn(compares, then, NULL);
}

static bool
removes_it(const struct ask *a)
{
	return a->q.kind == ASK_REMOVE || a->q.kind == ASK_REMOVE_UNUSED;
}

json_t *
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
