/* SPDX-License-Identifier: ISC */
/*
 * records.c - records.h over etcd's JSON gateway.
 */
#include "records/records.h"

#include <errno.h>
#include <stdlib.h>

#include "etcd/client/etcd.h"

#define OPERATIONS 128     /* etcd's --max-txn-ops */
#define VALUE      1000000 /* below its --max-request-bytes, in base64 */

struct records {
	struct etcd *etcd;
};

struct records_call {
	struct etcd_call *call;
	struct txn *txn; /* NULL: it is about a lease */
	records_done *done;
	void *context;
};

struct records_watch {
	struct etcd_watch *watch;
	records_hears *hears;
	void *context;
};

/* ---- an open store ---- */

int
records_open(struct records **records, const struct url *url, unsigned pause_ms,
	     char why[RECORDS_TEXT])
{
	struct records *r = calloc(1, sizeof(*r));
	int error;

	*records = NULL;
	if (r == NULL)
		return -ENOMEM;
	if ((error = etcd_new(&r->etcd, url, pause_ms, why, RECORDS_TEXT)) != 0) {
		free(r);
		return error;
	}
	*records = r;
	return 0;
}

void
records_close(struct records *r)
{
	if (r != NULL)
		etcd_free(r->etcd);
	free(r);
}

int
records_fd(const struct records *r)
{
	return etcd_fd(r->etcd);
}

uint64_t
records_due(const struct records *r)
{
	return etcd_due(r->etcd);
}

void
records_step(struct records *r)
{
	etcd_step(r->etcd);
}

struct records_limits
records_limits(const struct records *r)
{
	(void)r;
	return (struct records_limits){ .operations = OPERATIONS, .value = VALUE };
}

/* ---- a transaction's body ---- */

static json_t *
compare(const struct txn_item *i)
{
	switch (i->kind) {
	case IF_CREATED:
		return etcd_if_created(i->key, i->revision);
	case IF_CHANGED:
		return etcd_if_mod(i->key, i->revision);
	case IF_NO_NEWS:
		return etcd_if_no_news(i->key, i->end, i->revision);
	default:
		return etcd_if_absent(i->key, i->end);
	}
}

static json_t *
get(const struct txn_item *i)
{
	json_t *op = etcd_get(i->key, i->end, i->keys_only, i->limit);
	/* An operation has one member, whose value describes the range, whatever its name is. */
	json_t *range = json_object_iter_value(json_object_iter(op));

	if (i->order != BY_KEY) {
		json_object_set_new(range, "sort_target", json_string("CREATE"));
		json_object_set_new(range, "sort_order",
				    json_string(i->order == OLDEST_FIRST ? "ASCEND" : "DESCEND"));
	}
	if (i->created_before > 0)
		json_object_set_new(range, "max_create_revision",
				    etcd_number(i->created_before - 1));
	return op;
}

static json_t *
deed(const struct txn_item *i)
{
	switch (i->kind) {
	case DO_PUT:
		return etcd_put(i->key, i->value, i->lease);
	case DO_DELETE:
		return etcd_delete(i->key, i->end);
	default:
		return get(i);
	}
}

static json_t *
body_of(const struct txn *x)
{
	json_t *part[TXN_PARTS] = { json_array(), json_array(), json_array() };
	size_t i;

	for (i = 0; i < x->n; i++)
		json_array_append_new(part[x->item[i].part], x->item[i].part == TXN_IF
								 ? compare(&x->item[i])
								 : deed(&x->item[i]));
	return etcd_txn(part[TXN_IF], part[TXN_THEN], part[TXN_OTHERWISE]);
}

/* ---- answers ---- */

struct answers {
	struct records_found *found;
	size_t n;
};

static struct record_kv
kv_of(const struct etcd_kv *kv)
{
	return (struct record_kv){ .key = kv->key,
				   .value = kv->value,
				   .key_size = kv->key_size,
				   .value_size = kv->value_size,
				   .created = kv->create_revision,
				   .changed = kv->mod_revision,
				   .lease = kv->lease };
}

static void
free_found(struct records_found *found, size_t n)
{
	size_t i, j;

	for (i = 0; i < n; i++) {
		for (j = 0; j < found[i].n; j++) {
			free(found[i].kv[j].key);
			free(found[i].kv[j].value);
		}
		free((struct record_kv *)(uintptr_t)found[i].kv);
	}
	free(found);
}

/* False: it makes no sense, or there is no memory. */
static bool
find(struct records_found *f, const json_t *range)
{
	struct etcd_kv *kv;
	long n = etcd_kvs(range, &kv), i;
	struct record_kv *to;

	if (n < 0)
		return false;
	f->count = (uint64_t)etcd_integer(range, "count");
	if (f->count < (uint64_t)n)
		f->count = (uint64_t)n;
	if (n > 0 && (to = calloc((size_t)n, sizeof(*to))) != NULL) {
		for (i = 0; i < n; i++) {
			to[i] = kv_of(&kv[i]);
			kv[i].key = kv[i].value = NULL; /* they are ours now */
		}
		f->kv = to;
		f->n = (size_t)n;
	}
	etcd_kvs_free(kv, n);
	return f->n == (size_t)n;
}

/* What each operation of that part gave; NULL: it makes no sense. */
static struct records_found *
find_all(const struct txn *x, enum txn_part part, const json_t *body, size_t *n)
{
	struct records_found *found = calloc(txn_count(x, part) + 1, sizeof(*found));
	size_t i;

	*n = 0;
	for (i = 0; found != NULL && i < x->n; i++) {
		const struct txn_item *item = &x->item[i];
		if (item->part != part)
			continue;
		if (item->kind == DO_GET && !find(&found[*n], etcd_response_range(body, *n))) {
			free_found(found, *n + 1);
			return NULL;
		}
		(*n)++;
	}
	return found;
}

static void
call_free(struct records_call *c)
{
	txn_free(c->txn);
	free(c);
}

static void
answered(void *context, const struct etcd_reply *reply)
{
	static const enum records_result result[] = {
		[ETCD_OK] = RECORDS_OK,           [ETCD_AWAY] = RECORDS_AWAY,
		[ETCD_NOLEASE] = RECORDS_NOLEASE, [ETCD_EXISTS] = RECORDS_EXISTS,
		[ETCD_DENIED] = RECORDS_DENIED,   [ETCD_WRONG] = RECORDS_WRONG
	};
	struct records_call *c = context;
	struct records_answer a = { .result = result[reply->result],
				    .revision = reply->revision,
				    .sent_ns = reply->sent_ns,
				    .text = reply->text };
	struct records_found *found = NULL;

	if (reply->result == ETCD_OK && c->txn != NULL) {
		a.held = etcd_succeeded(reply->body);
		found = find_all(c->txn, a.held ? TXN_THEN : TXN_OTHERWISE, reply->body, &a.n);
		a.found = found;
		if (found == NULL) {
			a.result = RECORDS_AWAY;
			a.text = "its answer makes no sense";
		}
	} else if (reply->result == ETCD_OK) {
		a.alive = etcd_integer(reply->body, "TTL") > 0;
	}
	c->done(c->context, &a);
	free_found(found, a.n);
	call_free(c);
}

/* ---- calls ---- */

static struct records_call *
call(struct records *r, const char *path, json_t *body, struct txn *x, unsigned timeout_ms,
     records_done *done, void *context)
{
	struct records_call *c = calloc(1, sizeof(*c));

	if (c == NULL) {
		json_decref(body);
		txn_free(x);
		return NULL;
	}
	*c = (struct records_call){ .txn = x, .done = done, .context = context };
	if ((c->call = etcd_call(r->etcd, path, body, timeout_ms, answered, c)) == NULL) {
		call_free(c);
		return NULL;
	}
	return c;
}

struct records_call *
records_txn(struct records *r, struct txn *x, unsigned timeout_ms, records_done *done,
	    void *context)
{
	if (x == NULL || x->failed) {
		txn_free(x);
		return NULL;
	}
	return call(r, "/v3/kv/txn", body_of(x), x, timeout_ms, done, context);
}

static struct records_call *
lease_call(struct records *r, const char *path, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	   records_done *done, void *context)
{
	json_t *o = json_object();

	json_object_set_new(o, "ID", etcd_number(id));
	if (ttl_s > 0)
		json_object_set_new(o, "TTL", etcd_number(ttl_s));
	return call(r, path, o, NULL, timeout_ms, done, context);
}

struct records_call *
records_lease(struct records *r, int64_t id, uint32_t ttl_s, unsigned timeout_ms,
	      records_done *done, void *context)
{
	return lease_call(r, "/v3/lease/grant", id, ttl_s, timeout_ms, done, context);
}

struct records_call *
records_renew(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return lease_call(r, "/v3/lease/keepalive", id, 0, timeout_ms, done, context);
}

struct records_call *
records_end(struct records *r, int64_t id, unsigned timeout_ms, records_done *done, void *context)
{
	return lease_call(r, "/v3/lease/revoke", id, 0, timeout_ms, done, context);
}

void
records_cancel(struct records_call *c)
{
	etcd_cancel(c->call);
	call_free(c);
}

/* ---- watches ---- */

static void
hear(void *context, const struct etcd_news *news)
{
	static const enum records_news_kind kind[] = { [ETCD_BEGUN] = WATCH_BEGUN,
						       [ETCD_CHANGE] = WATCH_CHANGE,
						       [ETCD_COMPACTED] = WATCH_COMPACTED,
						       [ETCD_FAILED] = WATCH_FAILED };
	struct records_watch *w = context;
	const struct etcd_change *from = news->change;
	struct records_change c;
	struct records_news n = { .kind = kind[news->kind],
				  .text = news->text,
				  .revision = news->revision };

	if (from != NULL) {
		c.deleted = from->deleted;
		c.kv = (struct record_kv){ .key = (char *)(uintptr_t)from->key,
					   .value = (char *)(uintptr_t)from->value,
					   .key_size = from->key_size,
					   .value_size = from->value_size,
					   .created = from->create_revision,
					   .changed = from->mod_revision,
					   .lease = from->lease };
		n.change = &c;
	}
	w->hears(w->context, &n);
}

struct records_watch *
records_watch(struct records *r, const struct records_range *range, size_t ranges, int64_t from,
	      records_hears *hears, void *context)
{
	struct etcd_range to[RECORDS_RANGES];
	struct records_watch *w = calloc(1, sizeof(*w));
	size_t i;

	if (w == NULL || ranges > RECORDS_RANGES) {
		free(w);
		return NULL;
	}
	for (i = 0; i < ranges; i++)
		to[i] = (struct etcd_range){ .key = range[i].key,
					     .end = range[i].end,
					     .no_put = range[i].no_put,
					     .no_delete = range[i].no_delete };
	*w = (struct records_watch){ .hears = hears, .context = context };
	if ((w->watch = etcd_watch(r->etcd, to, ranges, from, hear, w)) == NULL) {
		free(w);
		return NULL;
	}
	return w;
}

void
records_unwatch(struct records_watch *w)
{
	etcd_unwatch(w->watch);
	free(w);
}
