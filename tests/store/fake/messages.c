/* SPDX-License-Identifier: ISC */
/*
 * messages.c - transactions as etcd's rpc.proto has them, as far as flocklimit uses it: see the client's
 * request.c and answer.c for the numbers.
 */
#include "fake.h"

#include <stdlib.h>
#include <string.h>

#include "../memory/inside.h"

char *
copy_of(const struct wire_field *f)
{
	size_t n = (size_t)(f->bytes.end - f->bytes.at);
	char *copy = memory_got(malloc(n + 1));

	memcpy(copy, f->bytes.at, n);
	copy[n] = '\0';
	return copy;
}

/* ---- what is asked ---- */

/* The fields of a compare or an operation: a number or a text each. */
struct fields {
	uint64_t number[16];
	char *text[65];
	size_t size[65];
};

static bool
read_fields(struct wire_in in, struct fields *to)
{
	struct wire_field f;

	*to = (struct fields){ .number = { 0 } };
	while (wire_next(&in, &f)) {
		if (f.type == WIRE_NUMBER && f.number < 16) {
			to->number[f.number] = f.value;
		} else if (f.type == WIRE_BYTES && f.number < 65 && to->text[f.number] == NULL) {
			to->text[f.number] = copy_of(&f);
			to->size[f.number] = (size_t)(f.bytes.end - f.bytes.at);
		} else {
			return false;
		}
	}
	return !in.wrong;
}

static void
free_fields(struct fields *f)
{
	size_t i;

	for (i = 0; i < 65; i++)
		free(f->text[i]);
}

static bool
add_compare(struct txn *x, const struct fields *f)
{
	enum { EQUAL = 0, LESS = 2, CREATED = 1, CHANGED = 2 };
	const char *key = f->text[3], *end = f->text[64];
	int64_t created = (int64_t)f->number[5], changed = (int64_t)f->number[6];

	if (key == NULL)
		return false;
	if (f->number[1] == LESS && f->number[2] == CHANGED)
		txn_if_no_news(x, key, end, changed - 1);
	else if (f->number[1] == EQUAL && f->number[2] == CREATED && created == 0)
		txn_if_absent(x, key, end);
	else if (f->number[1] == EQUAL && f->number[2] == CREATED && end == NULL)
		txn_if_created(x, key, created);
	else if (f->number[1] == EQUAL && f->number[2] == CHANGED && end == NULL)
		txn_if_changed(x, key, changed);
	else
		return false;
	return true;
}

static void
add_get(struct txn *x, const struct fields *f)
{
	enum { ASCEND = 1, DESCEND = 2 };
	struct txn_item *get = txn_get(x, f->text[1], f->text[2]);

	get->limit = (uint32_t)f->number[3];
	get->oldest_first = f->number[5] == ASCEND;
	if (f->number[5] == DESCEND)
		get->newest_before = (int64_t)f->number[13] + 1;
	get->keys_only = f->number[8] != 0;
}

static bool
add_operation(struct asked_txn *asked, struct wire_in in)
{
	enum { RANGE = 1, PUT = 2, DELETE = 3, NESTED = 4 };
	struct wire_field outer;
	struct fields f;
	bool good;

	if (!wire_next(&in, &outer) || outer.type != WIRE_BYTES)
		return false;
	good = read_fields(outer.bytes, &f) && (f.text[1] != NULL || outer.number == NESTED);
	if (good && outer.number == RANGE)
		add_get(asked->txn, &f);
	else if (good && outer.number == PUT)
		txn_put(asked->txn, f.text[1], f.text[2] == NULL ? "" : f.text[2], f.size[2],
			(int64_t)f.number[3]);
	else if (good && outer.number == DELETE)
		txn_delete(asked->txn, f.text[1], f.text[2]);
	else if (good && outer.number == NESTED)
		asked->guarded = true;
	free_fields(&f);
	return good;
}

bool
read_txn(struct wire_in in, struct asked_txn *asked)
{
	enum { COMPARE = 1, SUCCESS = 2, FAILURE = 3 };
	bool good = true, otherwise = false;
	struct wire_field f;
	struct fields compare;
	size_t i, n[TXN_PARTS] = { 0 };

	*asked = (struct asked_txn){ .txn = memory_got(txn_new()) };
	while (good && wire_next(&in, &f)) {
		if (f.type == WIRE_BYTES && f.number == COMPARE) {
			good = read_fields(f.bytes, &compare) && add_compare(asked->txn, &compare);
			free_fields(&compare);
		} else if (f.type == WIRE_BYTES && (f.number == SUCCESS || f.number == FAILURE)) {
			if (f.number == FAILURE && !otherwise)
				txn_otherwise(asked->txn);
			otherwise = f.number == FAILURE;
			good = add_operation(asked, f.bytes);
		} else {
			good = false;
		}
	}
	for (i = 0; i < asked->txn->n; i++) {
		const struct txn_item *item = &asked->txn->item[i];

		if (n[item->part] < MEMORY_OPERATIONS)
			asked->kind[item->part][n[item->part]++] = item->kind;
	}
	return good && !in.wrong;
}

/* ---- what is answered ---- */

void
write_header(struct wire_out *w, int64_t revision)
{
	size_t begun = wire_begin(w, 1);

	wire_number(w, 3, revision);
	wire_end(w, begun);
}

static void
write_kv(struct wire_out *w, unsigned field, const struct record_kv *kv)
{
	size_t begun = wire_begin(w, field);

	wire_bytes(w, 1, kv->key, kv->key_size);
	wire_number(w, 2, kv->created);
	wire_number(w, 3, kv->changed);
	if (kv->value_size > 0)
		wire_bytes(w, 5, kv->value, kv->value_size);
	if (kv->lease != 0)
		wire_number(w, 6, kv->lease);
	wire_end(w, begun);
}

static void
write_response(struct wire_out *w, enum txn_kind kind, const struct records_found *f)
{
	size_t outer = wire_begin(w, 3), inner, i;

	inner = wire_begin(w, kind == DO_GET ? 1 : kind == DO_PUT ? 2 : 3);
	for (i = 0; i < f->n; i++)
		write_kv(w, 2, &f->kv[i]);
	if (kind != DO_PUT)
		wire_number(w, kind == DO_GET ? 4 : 2, (int64_t)f->count);
	wire_end(w, inner);
	wire_end(w, outer);
}

void
write_txn(struct wire_out *w, const struct asked_txn *asked, const struct records_answer *a)
{
	const enum txn_kind *kinds = asked->kind[a->held ? TXN_THEN : TXN_OTHERWISE];
	size_t outer, i;

	write_header(w, a->revision);
	wire_number(w, 2, a->held);
	for (i = 0; i < a->n; i++)
		write_response(w, kinds[i], &a->found[i]);
	if (a->held || !asked->guarded)
		return;
	outer = wire_begin(w, 3);
	wire_end(w, wire_begin(w, 4));
	wire_end(w, outer);
}

void
write_event(struct wire_out *w, const struct records_change *c)
{
	size_t begun = wire_begin(w, 11);

	wire_number(w, 1, c->deleted);
	write_kv(w, 2, &c->kv);
	wire_end(w, begun);
}
