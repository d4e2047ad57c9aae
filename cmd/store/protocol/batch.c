/* SPDX-License-Identifier: ISC */
#include "batch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "round.h"

/*
 * The value: the revision of the look, 16 digits, and for each waiter a space and its name.
 */
#define NAME STORE_SELF /* with the space */
#define TEXT (16 + LOOK_NEXT * NAME + 1)

#define SPARE 3 /* of those that are read, so many may have left */

/*
 * Where many granters read a batch of which few are left, one of so many reads the line: if all waited until none
 * is left, all would read the line.
 */
#define FEW    (LOOK_FIRST / 2)
#define ONE_OF 16

unsigned batch_least = 500;

size_t
batch_most(const struct look *l)
{
	const struct flk_settings *c = &l->config;
	size_t limit = c->override >= 0 ? (size_t)c->override : c->declared;

	if (l->in_line < batch_least || c->fair != FLK_FAIR_OFF)
		return 0;
	return limit == 0 || limit + SPARE > LOOK_FIRST ? LOOK_FIRST : limit + SPARE;
}

void
batch_get(struct txn *x, const struct key *limiter)
{
	struct key batch = key_batch(limiter);

	txn_get(x, batch.s, NULL);
}

int64_t
batch_revision(const struct key *limiter, const struct record_kv *kv)
{
	char self[STORE_SELF];

	if (key_parse(limiter, kv->key, self) != 'f' || kv->value_size % NAME != 16 ||
	    kv->value_size >= TEXT)
		return 0;
	return (int64_t)strtoull(kv->value, NULL, 16);
}

struct txn *
batch_look_txn(struct look *l, const struct records_answer *batch, size_t most)
{
	const struct record_kv *kv = NULL;
	const char *at, *unread;
	struct txn *x;
	size_t i;

	look_line(l);
	for (i = 0; i < batch->n; i++)
		if (batch->found[i].n == 1 && batch_revision(l->limiter, batch->found[i].kv) != 0)
			kv = batch->found[i].kv;
	if (kv == NULL || (kv->value_size < 16 + FEW * NAME && batch->revision % ONE_OF == 0))
		return look_txn(l->limiter, LOOK_LONG);
	unread =
	    kv->value + (kv->value_size > most * NAME + 16 ? most * NAME + 16 : kv->value_size);
	if ((l->unread = strdup(unread)) == NULL)
		return NULL;
	l->batch = batch_revision(l->limiter, kv);
	x = look_txn(l->limiter, LOOK_BATCH);
	for (at = kv->value + 16; at < unread; at += NAME) {
		char self[STORE_SELF] = "";
		struct key w;

		memcpy(self, at + 1, STORE_SELF - 1);
		w = key_of(l->limiter, 'w', self);
		txn_get(x, w.s, NULL);
	}
	return x;
}

static int
by_created(const void *a, const void *b)
{
	const struct look_taker *x = a, *y = b;

	return x->created < y->created ? -1 : x->created > y->created;
}

bool
batch_look_read(struct look *l, const struct records_answer *answer, bool *is_spent)
{
	size_t i, n = 0;
	int64_t last = 0;

	*is_spent = false;
	if (!look_read(l, l->batch != 0 ? LOOK_BATCH : LOOK_LINE, answer))
		return false;
	if (l->batch == 0)
		return true;
	if (l->waiters > 0)
		qsort(l->waiter, l->waiters, sizeof(*l->waiter), by_created);
	/* Each once, be it that somebody wrote the batch by hand. */
	for (i = 0; i < l->waiters; i++)
		if (l->waiter[i].created <= l->batch && l->waiter[i].created > last) {
			last = l->waiter[i].created;
			l->waiter[n++] = l->waiter[i];
		}
	l->waiters = n;
	l->in_line = n + 1; /* others are behind them, as far as this look knows */
	*is_spent = n == 0 || l->config.fair != FLK_FAIR_OFF;
	if (*is_spent)
		look_line(l);
	return true;
}

void
batch_put(const struct round *r, struct txn *x)
{
	const struct look *l = r->look;
	struct key batch = key_batch(l->limiter);
	char text[TEXT];
	size_t i, n;

	if (l->batch == 0 && (l->has_lives || batch_most(l) == 0))
		return;
	n = (size_t)snprintf(text, sizeof(text), "%016" PRIx64,
			     (uint64_t)(l->batch != 0 ? l->batch : l->read));
	for (i = 0; i < l->waiters && i < LOOK_NEXT; i++)
		if (round_gives(r, l->waiter[i].self) == NULL)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s", l->waiter[i].self);
	if (l->batch != 0)
		strlcpy(text + n, l->unread, sizeof(text) - n);
	txn_put(x, batch.s, text, strlen(text), 0);
}
