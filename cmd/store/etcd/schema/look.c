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
	memset(l, 0, sizeof(*l));
	l->limiter = *limiter;
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

/* The order of a range. */
enum look_order { LOOK_ASCENDING, LOOK_DESCENDING };

static json_t *
ordered(const char *key, const char *end, bool keys_only, int64_t limit, enum look_order order,
	int64_t max_created)
{
	json_t *op = etcd_get(key, end, keys_only, limit);
	/* An operation has one member, whose value describes the range, whatever its name is. */
	json_t *range = json_object_iter_value(json_object_iter(op));

	json_object_set_new(range, "sort_target", json_string("CREATE"));
	json_object_set_new(range, "sort_order",
			    json_string(order == LOOK_ASCENDING ? "ASCEND" : "DESCEND"));
	if (max_created > 0)
		json_object_set_new(range, "max_create_revision", etcd_number(max_created));
	return op;
}

static json_t *
look_ops(const struct key *limiter, enum look_line line, const char *self, int64_t created)
{
	struct key h = key_of(limiter, 'h', NULL);
	struct key l = key_of(limiter, 'l', NULL), w = key_of(limiter, 'w', NULL);
	struct key h_end = key_end(&h), l_end = key_end(&l), w_end = key_end(&w);
	json_t *then = etcd_list(etcd_get(limiter->s, NULL, false, 0),
				 etcd_get(h.s, h_end.s, false, 0), etcd_get(l.s, l_end.s, true, 0));

	if (line == LOOK_MINE) {
		struct key mine = key_of(limiter, 'w', self);
		json_array_append_new(then, etcd_get(mine.s, NULL, true, 0));
		json_array_append_new(then,
				      ordered(w.s, w_end.s, true, 1, LOOK_DESCENDING, created - 1));
	} else {
		/* LOOK_FIRST needs no order: only whether any taker waits, and how many. */
		json_array_append_new(
		    then, line == LOOK_FIRST ? etcd_get(w.s, w_end.s, true, 1)
					     : ordered(w.s, w_end.s, false, 0, LOOK_ASCENDING, 0));
	}
	return then;
}

json_t *
look_body(const struct key *limiter, enum look_line line, const char *self, int64_t created)
{
	return etcd_txn(NULL, look_ops(limiter, line, self, created), NULL);
}

json_t *
look_body_again(const struct look *l, const char *self, int64_t created)
{
	struct key mine = key_of(&l->limiter, 'w', self);
	struct key before = key_of(&l->limiter, 'w', l->before);

	return etcd_txn(etcd_list(etcd_if_created(mine.s, created),
				  etcd_if_created(before.s, l->before_created)),
			etcd_list(etcd_get(l->limiter.s, NULL, false, 0)),
			look_ops(&l->limiter, LOOK_MINE, self, created));
}

/* The other branch has a response for each of its operations. */
bool
look_same(const struct etcd_reply *reply)
{
	return etcd_succeeded(reply->body) &&
	       json_array_size(json_object_get(reply->body, "responses")) == 1;
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
look_read_config(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv);
	bool good = n >= 0;

	l->config = flki_no_settings;
	l->config_mod = 0;
	if (n < 0)
		trouble(l, "what is kept in ", l->limiter.s, NONSENSE);
	if (n > 0) {
		l->config_mod = kv[0].mod_revision;
		good = config_decode(&l->config, kv[0].value, kv[0].value_size) ||
		       refuse_config(l, kv[0].value, kv[0].value_size);
	}
	etcd_kvs_free(kv, n);
	return good;
}

static bool
read_holders(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long i, n = etcd_kvs(range, &kv);
	bool good = n >= 0;
	char self[STORE_SELF];

	for (i = 0; i < n && good; i++) {
		struct look_holder *h;
		if (key_parse(&l->limiter, kv[i].key, self) != 'h')
			continue;
		if ((h = look_add(l)) == NULL) {
			good = false;
			break;
		}
		memcpy(h->self, self, sizeof(h->self));
		record_decode(&h->record, kv[i].value, kv[i].value_size);
		h->created = kv[i].create_revision;
		h->mod = kv[i].mod_revision;
	}
	etcd_kvs_free(kv, n);
	return good;
}

static bool
read_alive(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long i, n = etcd_kvs(range, &kv);
	struct look_holder *h;
	char self[STORE_SELF];
	size_t next = 0;

	for (i = 0; i < n; i++) {
		if (key_parse(&l->limiter, kv[i].key, self) != 'l')
			continue;
		/* Both lists are in the order of their keys, so it is mostly the next one. */
		while (next < l->holders && strcmp(l->holder[next].self, self) < 0)
			next++;
		h = next < l->holders && strcmp(l->holder[next].self, self) == 0
			? &l->holder[next]
			: look_find(l, self);
		if (h != NULL) {
			h->alive = true;
			h->lease = kv[i].lease;
		}
	}
	etcd_kvs_free(kv, n);
	return n >= 0;
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
read_waiters(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long i, n = etcd_kvs(range, &kv);
	char self[STORE_SELF];

	if (n < 0)
		return false;
	l->in_line = (uint64_t)etcd_integer(range, "count");
	if (l->in_line < (uint64_t)n)
		l->in_line = (uint64_t)n;
	if (n > 0 && (l->waiter = calloc((size_t)n, sizeof(*l->waiter))) == NULL) {
		etcd_kvs_free(kv, n);
		return false;
	}
	for (i = 0; i < n; i++) {
		struct look_waiter *w = &l->waiter[l->waiters];
		if (key_parse(&l->limiter, kv[i].key, self) != 'w')
			continue;
		memcpy(w->self, self, sizeof(w->self));
		record_decode(&w->record, kv[i].value, kv[i].value_size);
		w->created = kv[i].create_revision;
		w->lease = kv[i].lease;
		l->waiters++;
	}
	etcd_kvs_free(kv, n);
	return true;
}

static bool
read_mine(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv);

	if (n < 0)
		return false;
	l->mine = n > 0;
	l->created = n > 0 ? kv[0].create_revision : 0;
	etcd_kvs_free(kv, n);
	return true;
}

static bool
read_before(struct look *l, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv);

	if (n < 0)
		return false;
	l->before[0] = '\0';
	l->before_created = n > 0 ? kv[0].create_revision : 0;
	/* A foreign value here blocks us until its writer deletes it. */
	if (n > 0 && key_parse(&l->limiter, kv[0].key, l->before) != 'w')
		n = -1;
	etcd_kvs_free(kv, n < 0 ? 1 : n);
	return n >= 0;
}

bool
look_read(struct look *l, enum look_line line, const struct etcd_reply *reply)
{
	const json_t *body = reply->body;
	struct look_holder *old = l->holder;
	size_t n = l->holders;
	bool good;

	free(l->waiter);
	l->waiter = NULL;
	l->waiters = 0;
	l->holder = NULL;
	l->holders = l->room = 0;
	l->revision = reply->revision;
	good = look_read_config(l, etcd_response_range(body, 0));
	if (good) {
		good = l->revision > 0 && read_holders(l, etcd_response_range(body, 1)) &&
		       read_alive(l, etcd_response_range(body, 2)) &&
		       (line != LOOK_MINE ? read_waiters(l, etcd_response_range(body, 3))
					  : read_mine(l, etcd_response_range(body, 3)) &&
						read_before(l, etcd_response_range(body, 4)));
		if (!good)
			trouble(l, "what is kept below ", l->limiter.s, NONSENSE);
	}
	keep_marks(l, old, n);
	free(old);
	return good;
}
