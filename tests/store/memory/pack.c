/* SPDX-License-Identifier: ISC */
/*
 * pack.c - see pack.h.
 */
#include "pack.h"

#include <stdlib.h>
#include <string.h>

#define LEAST 40 /* fewer bytes than a record or an item takes */

void *
pack_got(void *p)
{
	if (p == NULL)
		abort();
	return p;
}

/* ---- bytes ---- */

void
pack_room(struct pack *p, size_t n)
{
	if (n <= p->room - p->n)
		return;
	p->room = (p->n + n) * 2;
	p->at = pack_got(realloc(p->at, p->room));
}

/* The next n bytes of what is read or written; NULL: there are none. */
static char *
step(struct pack *p, size_t n)
{
	char *at;

	if (!p->reads) {
		pack_room(p, n);
		at = p->at + p->n;
		p->n += n;
	} else {
		p->wrong |= n > p->n - p->next;
		if (p->wrong)
			return NULL;
		at = p->at + p->next;
		p->next += n;
	}
	return at;
}

void
pack_number(struct pack *p, uint64_t *number)
{
	char *at = step(p, sizeof(*number));

	if (at == NULL)
		*number = 0;
	else if (p->reads)
		memcpy(number, at, sizeof(*number));
	else
		memcpy(at, number, sizeof(*number));
}

/* A number that is at most that; returns it, when it reads the one that was read. */
static uint64_t
bounded(struct pack *p, uint64_t number, uint64_t most)
{
	pack_number(p, &number);
	p->wrong |= number > most;
	return p->wrong ? 0 : number;
}

#define PACK(field, most) ((field) = (__typeof__(field))bounded(p, (uint64_t)(field), most))

/*
 * A text or NULL, with the NUL at its end; size: of one that may have others.  Returns it, when it
 * reads the one that was read.
 */
static char *
text(struct pack *p, const char *given, size_t *size)
{
	size_t n = given == NULL ? 0 : (size == NULL ? strlen(given) : *size) + 1;
	char *at;

	PACK(n, SIZE_MAX);
	at = step(p, n);
	if (!p->reads && n > 0)
		memcpy(at, given, n);
	if (!p->reads)
		return (char *)(uintptr_t)given;
	if (at != NULL && n > 0)
		p->wrong |= at[n - 1] != '\0' || (size == NULL && strlen(at) != n - 1);
	if (size != NULL)
		*size = p->wrong || n == 0 ? 0 : n - 1;
	return p->wrong || n == 0 ? NULL : at;
}

/* A text that must be there. */
static char *
key(struct pack *p, const char *given)
{
	char *k = text(p, given, NULL);

	p->wrong |= k == NULL;
	return k;
}

/* ---- requests ---- */

static char *
copy(const char *bytes, size_t n)
{
	return bytes == NULL ? NULL : memcpy(pack_got(malloc(n + 1)), bytes, n + 1);
}

static void
pack_item(struct pack *p, struct txn_item *i)
{
	PACK(i->part, TXN_PARTS - 1);
	PACK(i->kind, DO_DELETE);
	i->key = key(p, i->key);
	i->end = text(p, i->end, NULL);
	PACK(i->revision, UINT64_MAX);
	i->value = text(p, i->value, &i->size);
	PACK(i->lease, UINT64_MAX);
	PACK(i->keys_only, 1);
	PACK(i->limit, UINT32_MAX);
	PACK(i->oldest_first, 1);
	PACK(i->newest_before, INT64_MAX);
	p->wrong |= (i->part == TXN_IF) != (i->kind < DO_GET);
	p->wrong |= (i->kind == DO_PUT) != (i->value != NULL);
}

static void
pack_txn(struct pack *p, struct txn *x)
{
	size_t n = x->n, i;

	PACK(n, p->reads ? (p->n - p->next) / LEAST : SIZE_MAX);
	if (p->reads)
		x->item = pack_got(calloc(n + 1, sizeof(*x->item)));
	for (i = 0; i < n && !p->wrong; i++) {
		struct txn_item *item = &x->item[i];

		pack_item(p, item);
		if (!p->reads)
			continue;
		x->n++;
		item->key = copy(item->key, item->key == NULL ? 0 : strlen(item->key));
		item->end = copy(item->end, item->end == NULL ? 0 : strlen(item->end));
		item->value = copy(item->value, item->size);
	}
}

void
pack_request(struct pack *p, struct request *q)
{
	size_t i;

	PACK(q->kind, ASKS - 1);
	PACK(q->number, UINT64_MAX);
	PACK(q->lease, UINT64_MAX);
	p->wrong |= q->kind == ASK_LEASE && q->lease == 0;
	PACK(q->ttl_s, UINT32_MAX);
	PACK(q->from, INT64_MAX);
	PACK(q->ranges, RECORDS_RANGES);
	for (i = 0; i < q->ranges; i++) {
		q->range[i].key = key(p, q->range[i].key);
		q->range[i].end = text(p, q->range[i].end, NULL);
		PACK(q->range[i].no_put, 1);
	}
	if (q->kind != ASK_TXN)
		return;
	if (p->reads)
		q->txn = pack_got(txn_new());
	pack_txn(p, q->txn);
}

/* ---- replies ---- */

static void
pack_kv(struct pack *p, struct record_kv *kv)
{
	kv->key = key(p, kv->key);
	kv->key_size = kv->key == NULL ? 0 : strlen(kv->key);
	kv->value = text(p, kv->value, &kv->value_size);
	p->wrong |= kv->value == NULL;
	PACK(kv->created, INT64_MAX);
	PACK(kv->changed, INT64_MAX);
	PACK(kv->lease, UINT64_MAX);
}

static void
pack_found(struct pack *p, struct records_found *f)
{
	struct record_kv *kv = (struct record_kv *)(uintptr_t)f->kv;
	size_t i;

	PACK(f->count, UINT64_MAX);
	PACK(f->n, p->reads ? (p->n - p->next) / LEAST : SIZE_MAX);
	if (p->reads)
		f->kv = kv = pack_got(calloc(f->n + 1, sizeof(*kv)));
	for (i = 0; i < f->n; i++)
		pack_kv(p, &kv[i]);
}

static void
pack_answer(struct pack *p, struct reply *r)
{
	struct records_answer *a = &r->answer;
	size_t i;

	PACK(a->result, RECORDS_WRONG);
	PACK(a->revision, INT64_MAX);
	PACK(a->held, 1);
	PACK(a->alive, 1);
	a->text = text(p, a->text, NULL);
	PACK(a->n, MEMORY_OPERATIONS);
	for (i = 0; i < a->n; i++) {
		if (!p->reads)
			r->found[i] = a->found[i];
		pack_found(p, &r->found[i]);
	}
	a->found = r->found;
}

static void
pack_news(struct pack *p, struct reply *r)
{
	struct records_news *n = &r->news;

	PACK(n->kind, WATCH_FAILED);
	PACK(n->revision, INT64_MAX);
	n->text = text(p, n->text, NULL);
	if (n->kind != WATCH_CHANGE)
		return;
	if (!p->reads)
		r->change = *n->change;
	PACK(r->change.deleted, 1);
	pack_kv(p, &r->change.kv);
	n->change = &r->change;
}

void
pack_reply(struct pack *p, struct reply *r)
{
	PACK(r->number, UINT64_MAX);
	PACK(r->is_news, 1);
	if (r->is_news)
		pack_news(p, r);
	else
		pack_answer(p, r);
}

void
reply_free(struct reply *r)
{
	size_t i;

	for (i = 0; i < r->answer.n; i++)
		free((void *)(uintptr_t)r->found[i].kv);
}
