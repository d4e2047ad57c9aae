/* SPDX-License-Identifier: ISC */
/*
 * look.c - asks the store for a limiter in one txn, and reads the answer: see look.h.
 */
#include "look.h"
#include "setting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
look_init(struct look *l, const struct key *limiter)
{
	struct key copy = *limiter; /* it may be l's own */

	memset(l, 0, sizeof(*l));
	l->limiter = copy;
	l->config.override = FLK_AUTO;
}

void
look_free(struct look *l)
{
	free(l->holder);
	free(l->waiter);
	free(l->trouble);
	look_init(l, &l->limiter);
}

/* ---- asking ---- */

static void
add_look(struct txn *x, const struct key *limiter, enum look_line line, const char *self,
	 int64_t created)
{
	struct key h = key_of(limiter, 'h', NULL), l = key_of(limiter, 'l', NULL);
	struct key w = key_of(limiter, 'w', NULL), mine = key_of(limiter, 'w', self);
	struct key h_end = key_end(&h), l_end = key_end(&l), w_end = key_end(&w);
	struct txn_item *line_item;

	txn_get(x, limiter->s, NULL);
	txn_get(x, h.s, h_end.s);
	txn_get(x, l.s, l_end.s)->keys_only = true;
	if (line == LOOK_MINE)
		txn_get(x, mine.s, NULL)->keys_only = true;
	line_item = txn_get(x, w.s, w_end.s);
	switch (line) {
	case LOOK_FIRST: /* only whether any taker waits, and how many */
		line_item->keys_only = true;
		line_item->limit = 1;
		break;
	case LOOK_MINE:
		line_item->keys_only = true;
		line_item->limit = 1;
		line_item->order = NEWEST_FIRST;
		line_item->created_before = created;
		break;
	case LOOK_ALL:
		line_item->order = OLDEST_FIRST;
		break;
	}
}

struct txn *
look_txn(const struct key *limiter, enum look_line line, const char *self, int64_t created)
{
	struct txn *x = txn_new();

	add_look(x, limiter, line, self, created);
	return x;
}

struct txn *
look_txn_again(const struct look *l, const char *self, int64_t created)
{
	struct key mine = key_of(&l->limiter, 'w', self);
	struct key before = key_of(&l->limiter, 'w', l->before);
	struct txn *x = txn_new();

	txn_if_created(x, mine.s, created);
	txn_if_created(x, before.s, l->before_created);
	txn_get(x, l->limiter.s, NULL);
	txn_otherwise(x);
	add_look(x, &l->limiter, LOOK_MINE, self, created);
	return x;
}

bool
look_same(const struct records_answer *reply)
{
	return reply->held && reply->n == 1;
}

/* ---- reading ---- */

static bool
trouble(struct look *l, const char *what, const char *key, const char *is)
{
	free(l->trouble);
	if (asprintf(&l->trouble, "%s%s %s", what, key, is) == -1)
		l->trouble = NULL;
	return false;
}

#define NONSENSE "makes no sense: flocklimitctl check"

/* Refuses a cfg by which no taker can decide. */
static bool
refuse_config(struct look *l, const char *value, size_t size)
{
	const char *is = config_trouble(value, size);

	return is != NULL ? trouble(l, "", l->limiter.s, is)
			  : trouble(l, "what is kept in ", l->limiter.s, NONSENSE);
}

struct look_holder *
look_find(const struct look *l, const char *self)
{
	size_t i;

	for (i = 0; i < l->holders; i++)
		if (strcmp(l->holder[i].self, self) == 0)
			return &l->holder[i];
	return NULL;
}

struct look_holder *
look_add(struct look *l)
{
	if (l->holders == l->room) {
		size_t room = l->room == 0 ? 16 : l->room * 2;
		struct look_holder *more = reallocarray(l->holder, room, sizeof(*more));
		if (more == NULL)
			return NULL;
		l->holder = more;
		l->room = room;
	}
	memset(&l->holder[l->holders], 0, sizeof(l->holder[0]));
	return &l->holder[l->holders++];
}

bool
look_read_config(struct look *l, struct records_found found)
{
	l->config = flki_no_settings;
	l->config_mod = 0;
	if (found.n == 0)
		return true;
	l->config_mod = found.kv[0].changed;
	return config_decode(&l->config, found.kv[0].value, found.kv[0].value_size) ||
	       refuse_config(l, found.kv[0].value, found.kv[0].value_size);
}

static bool
read_holders(struct look *l, struct records_found found)
{
	char self[STORE_SELF];
	size_t i;

	for (i = 0; i < found.n; i++) {
		const struct record_kv *kv = &found.kv[i];
		struct look_holder *h;
		if (key_parse(&l->limiter, kv->key, self) != 'h')
			continue;
		if ((h = look_add(l)) == NULL)
			return false;
		memcpy(h->self, self, sizeof(h->self));
		record_decode(&h->record, kv->value, kv->value_size);
		h->created = kv->created;
		h->mod = kv->changed;
	}
	return true;
}

static void
read_alive(struct look *l, struct records_found found)
{
	struct look_holder *h;
	char self[STORE_SELF];
	size_t next = 0, i;

	for (i = 0; i < found.n; i++) {
		if (key_parse(&l->limiter, found.kv[i].key, self) != 'l')
			continue;
		/* Both lists are in the order of their keys, so it is mostly the next one. */
		while (next < l->holders && strcmp(l->holder[next].self, self) < 0)
			next++;
		h = next < l->holders && strcmp(l->holder[next].self, self) == 0
			? &l->holder[next]
			: look_find(l, self);
		if (h != NULL) {
			h->alive = true;
			h->lease = found.kv[i].lease;
		}
	}
}

/* What reclaim.c knew of a holder that is still dead remains true: marks go by revisions. */
static void
keep_marks(struct look *l, const struct look_holder *old, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		struct look_holder *h;
		if ((old[i].marked == 0 && old[i].seen == 0) ||
		    (h = look_find(l, old[i].self)) == NULL || h->alive)
			continue;
		h->seen = old[i].seen;
		h->seen_ns = old[i].seen_ns;
		h->marked = old[i].marked;
		h->ripe_ns = old[i].ripe_ns;
		h->over = old[i].over;
	}
}

static bool
read_waiters(struct look *l, struct records_found found)
{
	char self[STORE_SELF];
	size_t i;

	l->in_line = found.count;
	if (found.n > 0 && (l->waiter = calloc(found.n, sizeof(*l->waiter))) == NULL)
		return false;
	for (i = 0; i < found.n; i++) {
		const struct record_kv *kv = &found.kv[i];
		struct look_waiter *w = &l->waiter[l->waiters];
		if (key_parse(&l->limiter, kv->key, self) != 'w')
			continue;
		memcpy(w->self, self, sizeof(w->self));
		record_decode(&w->record, kv->value, kv->value_size);
		w->created = kv->created;
		w->lease = kv->lease;
		l->waiters++;
	}
	return true;
}

static bool
read_mine(struct look *l, struct records_found mine, struct records_found before)
{
	l->mine = mine.n > 0;
	l->created = mine.n > 0 ? mine.kv[0].created : 0;
	l->before[0] = '\0';
	l->before_created = before.n > 0 ? before.kv[0].created : 0;
	/* A foreign value here blocks us until its writer deletes it. */
	return before.n == 0 || key_parse(&l->limiter, before.kv[0].key, l->before) == 'w';
}

bool
look_read(struct look *l, enum look_line line, const struct records_answer *reply)
{
	struct look_holder *old = l->holder;
	size_t n = l->holders;
	bool good;

	free(l->waiter);
	l->waiter = NULL;
	l->waiters = 0;
	l->holder = NULL;
	l->holders = l->room = 0;
	l->revision = l->read = reply->revision;
	good = look_read_config(l, records_found(reply, 0));
	if (good) {
		good = l->revision > 0 && read_holders(l, records_found(reply, 1));
		read_alive(l, records_found(reply, 2));
		good = good && (line != LOOK_MINE ? read_waiters(l, records_found(reply, 3))
						  : read_mine(l, records_found(reply, 3),
							      records_found(reply, 4)));
		if (!good)
			trouble(l, "what is kept below ", l->limiter.s, NONSENSE);
	}
	keep_marks(l, old, n);
	free(old);
	return good;
}
