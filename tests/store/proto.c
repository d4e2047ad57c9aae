/* SPDX-License-Identifier: ISC */
/*
 * proto.c - what etcd is asked and what it answers, as bytes: right ones, and any others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/tap.h"
#include "etcd/proto/messages.h"

/* Takes the bytes. */
static bool
is_hex(struct wire_out *w, const char *want)
{
	char got[1000] = "";
	size_t i;
	bool same;

	for (i = 0; i < w->n && i < 400; i++)
		sprintf(got + 2 * i, "%02x", w->at[i]);
	same = !w->failed && strcmp(got, want) == 0;
	if (!same)
		tap_note("got %s, want %s", got, want);
	free(w->at);
	memset(w, 0, sizeof(*w));
	return same;
}

/* A copy without room behind it, so that a sanitizer sees every byte too far. */
static uint8_t *
copy_of(const struct wire_out *w, size_t n)
{
	uint8_t *copy = malloc(n > 0 ? n : 1);

	if (copy == NULL)
		tap_bail("no memory");
	if (n > 0)
		memcpy(copy, w->at, n);
	return copy;
}

/* ---- requests ------------------------------------------------------------------------------ */

static void
requests(void)
{
	struct wire_out w = { .failed = false };
	struct records_range range = { .key = "a", .end = "b" };
	struct txn *x = txn_new();
	struct txn_item *get;

	request_lease(&w, 7, 30);
	ok(is_hex(&w, "0000000004"
		      "081e1007"),
	   "a lease, with its frame");
	request_lease(&w, -1, 0);
	ok(is_hex(&w, "000000000b08ffffffffffffffffff01"), "an id below 0 has ten bytes");
	request_token(&w, "me", "it");
	ok(is_hex(&w, "00000000080a026d6512026974"), "a user");
	request_watch(&w, 3, &range, 300);
	ok(is_hex(&w, "000000000d0a0b0a016112016218ac023803"), "a watch of changes");
	range = (struct records_range){ .key = "a", .no_put = true };
	request_watch(&w, 200, &range, 0);
	ok(is_hex(&w, "000000000a0a080a0161280038c801"), "a watch of deletions, from now on");
	request_unwatch(&w, 3);
	ok(is_hex(&w, "000000000412020803"), "its end");

	txn_if_created(x, "a", 5);
	txn_put(x, "k", "v", 1, 7);
	request_txn(&w, x);
	ok(is_hex(&w, "0000000017"
		      "0a09080010011a01612805"
		      "120a12080a016b120176"
		      "1807"),
	   "a compare and a put on a lease");
	txn_free(x);
	x = txn_new();
	txn_if_no_news(x, "a", "b", 5);
	txn_otherwise(x);
	get = txn_get(x, "a", "b");
	get->oldest_first = true;
	get->limit = 1;
	get->keys_only = true;
	txn_delete(x, "a", NULL);
	request_txn(&w, x);
	ok(is_hex(&w, "000000002c"
		      "0a0d080210021a016130068204"
		      "0162"
		      "1a100a0e0a01611201621801280130024001"
		      "1a051a030a0161"
		      "1a022200"),
	   "a compare of a range has an empty transaction with it");
	txn_free(x);
	x = txn_new();
	txn_if_absent(x, "a", "b");
	txn_get(x, "a", NULL);
	request_txn(&w, x);
	ok(is_hex(&w, "0000000016"
		      "0a0d080010011a016128008204"
		      "0162"
		      "12050a030a0161"),
	   "unless the transaction only reads");
	txn_free(x);
	x = txn_new();
	txn_if_absent(x, "a", NULL);
	txn_if_changed(x, "b", 0);
	request_txn(&w, x);
	ok(is_hex(&w, "0000000016"
		      "0a09080010011a01612800"
		      "0a09080010021a01623000"),
	   "compares with 0 say so");
	txn_free(x);
}

/* ---- numbers and lengths ------------------------------------------------------------------- */

static void
numbers(void)
{
	static const int64_t some[] = { 0,         1,          127,       128,       16383, 16384,
					INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MIN, -1 };
	size_t i, wrong = 0;

	for (i = 0; i < sizeof(some) / sizeof(some[0]); i++) {
		struct wire_out w = { .failed = false };
		struct wire_field f;
		struct wire_in in;

		wire_number(&w, 536870911, some[i]);
		in = (struct wire_in){ .at = w.at, .end = w.at + w.n };
		wrong += !wire_next(&in, &f) || f.number != 536870911 ||
			 (int64_t)f.value != some[i] || wire_next(&in, &f) || in.wrong;
		free(w.at);
	}
	is(wrong, 0, "numbers are the same again");
}

static const struct {
	const char *bytes;
	size_t n;
	const char *what;
} malformed[] = {
	{ "\x08", 1, "a number that is not there" },
	{ "\x08\x80", 2, "half a number" },
	{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x02", 11, "a number of more than 64 bits" },
	{ "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x81\x00", 12, "a number of eleven bytes" },
	{ "\x80", 1, "half a tag" },
	{ "\x00\x00", 2, "the field 0" },
	{ "\x88\x80\x80\x80\x80\x01\x00", 7, "a field that is too high" },
	{ "\x0a\x02x", 3, "bytes that are not all there" },
	{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, "a length of 64 bits" },
	{ "\x0a\x80", 2, "half a length" },
	{ "\x09\x00\x00\x00\x00\x00\x00\x00", 8, "eight bytes that are seven" },
	{ "\x0d\x00\x00\x00", 4, "four bytes that are three" },
	{ "\x0b\x00", 2, "the beginning of a group" },
	{ "\x0c", 1, "the end of a group" },
	{ "\x0e\x00", 2, "a type that there is not" },
	{ "\x0f\x00", 2, "another" },
};

static void
nonsense(void)
{
	size_t i;

	for (i = 0; i < sizeof(malformed) / sizeof(malformed[0]); i++) {
		struct wire_out w = { .at = (uint8_t *)(uintptr_t)malformed[i].bytes };
		uint8_t *copy = copy_of(&w, malformed[i].n);
		struct wire_in in = { .at = copy, .end = copy + malformed[i].n };
		struct wire_field f;

		while (wire_next(&in, &f))
			;
		ok(in.wrong, "it is none: %s", malformed[i].what);
		free(copy);
	}
}

/* ---- answers ------------------------------------------------------------------------------- */

static void
add_header(struct wire_out *w, int64_t revision)
{
	size_t begun = wire_begin(w, 1);

	wire_number(w, 1, 4);
	wire_number(w, 3, revision);
	wire_end(w, begun);
}

static void
add_kv(struct wire_out *w, unsigned field, const char *key, const char *value, int64_t created,
       int64_t changed)
{
	size_t begun = wire_begin(w, field);

	wire_text(w, 1, key);
	if (created != 0)
		wire_number(w, 2, created);
	wire_number(w, 3, changed);
	wire_number(w, 4, 1);
	wire_number(w, 6, 77);
	wire_text(w, 5, value);
	wire_end(w, begun);
}

/* Fields that nobody knows, one of each type. */
static void
add_unknown(struct wire_out *w)
{
	wire_number(w, 1000, 5);
	wire_text(w, 1001, "unknown");
	wire_raw(w,
		 "\xd1\x3e"
		 "12345678",
		 10);
	wire_raw(w,
		 "\xdd\x3e"
		 "1234",
		 6);
}

static struct wire_out
transaction(void)
{
	struct wire_out w = { .failed = false };
	size_t outer, inner;

	add_header(&w, 12);
	add_unknown(&w);
	wire_number(&w, 2, 1);
	outer = wire_begin(&w, 3); /* a get's */
	inner = wire_begin(&w, 1);
	add_header(&w, 12);
	add_kv(&w, 2, "a", "one", 3, 4);
	add_unknown(&w);
	add_kv(&w, 2, "b", NULL, 5, 5);
	wire_number(&w, 4, 9);
	wire_end(&w, inner);
	wire_end(&w, outer);
	outer = wire_begin(&w, 3); /* a put's */
	inner = wire_begin(&w, 2);
	add_header(&w, 12);
	wire_end(&w, inner);
	wire_end(&w, outer);
	outer = wire_begin(&w, 3); /* a delete's */
	inner = wire_begin(&w, 3);
	wire_number(&w, 2, 6);
	wire_end(&w, inner);
	wire_end(&w, outer);
	outer = wire_begin(&w, 3); /* that of an empty transaction */
	inner = wire_begin(&w, 4);
	add_header(&w, 12);
	wire_end(&w, inner);
	wire_end(&w, outer);
	return w;
}

static void
answers(void)
{
	struct wire_out w = transaction();
	uint8_t *bytes = copy_of(&w, w.n);
	struct answer a;

	ok(answer_read(&a, ANSWER_TXN, bytes, w.n) && a.revision == 12 && a.held && a.n == 3,
	   "a transaction's answer");
	ok(a.found[0].n == 2 && a.found[0].count == 9 && a.found[1].n == 0 && a.found[2].count == 6,
	   "with what each operation gave, but of ours");
	ok(strcmp(a.found[0].kv[0].key, "a") == 0 && strcmp(a.found[0].kv[0].value, "one") == 0 &&
	       a.found[0].kv[0].value_size == 3 && a.found[0].kv[0].created == 3 &&
	       a.found[0].kv[0].changed == 4 && a.found[0].kv[0].lease == 77,
	   "a record with all that it has");
	ok(strcmp(a.found[0].kv[1].key, "b") == 0 && *a.found[0].kv[1].value == '\0' &&
	       a.found[0].kv[1].value_size == 0,
	   "and one without a value");
	answer_free(&a);
	free(bytes);
	free(w.at);
}

static void
other_answers(void)
{
	struct wire_out w = { .failed = false };
	struct answer a;
	uint8_t *bytes;

	add_header(&w, 5);
	wire_number(&w, 2, 7);
	wire_number(&w, 3, 30);
	bytes = copy_of(&w, w.n);
	ok(answer_read(&a, ANSWER_LEASE, bytes, w.n) && a.ttl == 30 && a.revision == 5,
	   "a lease's answer");
	answer_free(&a);
	free(bytes);
	w.n = 0;
	add_header(&w, 5);
	wire_text(&w, 2, "token");
	bytes = copy_of(&w, w.n);
	ok(answer_read(&a, ANSWER_TOKEN, bytes, w.n) && strcmp(a.token, "token") == 0,
	   "a user's answer");
	answer_free(&a);
	free(bytes);
	w.n = 0;
	wire_number(&w, 3, 30);
	bytes = copy_of(&w, w.n);
	ok(!answer_read(&a, ANSWER_LEASE, bytes, w.n), "an answer without a header is none");
	answer_free(&a);
	ok(!answer_read(&a, ANSWER_TXN, bytes, 0), "nor is nothing at all");
	answer_free(&a);
	free(bytes);
	free(w.at);
}

/* More than any transaction asks for would cost us many times its own size. */
static void
many_answers(void)
{
	struct wire_out w = { .failed = false };
	uint8_t *bytes;
	struct answer a;
	int i;

	add_header(&w, 5);
	for (i = 0; i <= REQUEST_OPERATIONS; i++)
		wire_bytes(&w, 3, NULL, 0);
	bytes = copy_of(&w, w.n);
	ok(answer_read(&a, ANSWER_TXN, bytes, w.n),
	   "as many answers as a transaction has operations, and ours");
	answer_free(&a);
	free(bytes);
	wire_bytes(&w, 3, NULL, 0);
	bytes = copy_of(&w, w.n);
	ok(!answer_read(&a, ANSWER_TXN, bytes, w.n), "but no more");
	answer_free(&a);
	free(bytes);
	free(w.at);
}

static struct wire_out
message(void)
{
	struct wire_out w = { .failed = false };
	size_t event;

	add_header(&w, 9);
	wire_number(&w, 2, 3);
	add_unknown(&w);
	event = wire_begin(&w, 11);
	add_kv(&w, 2, "a", "1", 3, 8);
	wire_end(&w, event);
	event = wire_begin(&w, 11);
	wire_number(&w, 1, 1);
	add_kv(&w, 2, "b", NULL, 0, 9);
	wire_end(&w, event);
	wire_text(&w, 6, "why");
	return w;
}

static void
watches(void)
{
	struct wire_out w = message();
	uint8_t *bytes = copy_of(&w, w.n);
	struct answer n;

	ok(answer_read(&n, ANSWER_WATCH, bytes, w.n) && n.id == 3 && n.revision == 9 &&
	       n.changes == 2 && !n.created && !n.canceled && strcmp(n.reason, "why") == 0,
	   "a watch's message");
	ok(!n.change[0].deleted && strcmp(n.change[0].kv.value, "1") == 0 &&
	       n.change[0].kv.changed == 8,
	   "with a change");
	ok(n.change[1].deleted && strcmp(n.change[1].kv.key, "b") == 0 &&
	       *n.change[1].kv.value == '\0' && n.change[1].kv.changed == 9,
	   "and a deletion");
	answer_free(&n);
	free(bytes);
	free(w.at);
}

/* Every beginning of an answer is one, or is none; and so is it with any byte of it changed. */
static void
pieces(void)
{
	struct wire_out txn = transaction(), news = message();
	size_t i, whole = 0;
	unsigned bit;

	for (i = 0; i <= txn.n; i++) {
		uint8_t *bytes = copy_of(&txn, i);
		struct answer a;

		whole += answer_read(&a, ANSWER_TXN, bytes, i);
		answer_free(&a);
		free(bytes);
	}
	ok(whole < 13, "an answer that is cut is none, but between two fields: %zu", whole);
	for (i = 0; i < 8 * txn.n; i++) {
		uint8_t *bytes = copy_of(&txn, txn.n);
		struct answer a;

		bytes[i / 8] ^= (uint8_t)(1u << i % 8);
		answer_read(&a, ANSWER_TXN, bytes, txn.n);
		answer_free(&a);
		free(bytes);
	}
	for (i = 0; i < news.n; i++)
		for (bit = 0; bit < 8; bit++) {
			size_t size = i + 1 < news.n ? news.n - (bit == 7) : news.n;
			uint8_t *bytes = copy_of(&news, size);
			struct answer n;

			bytes[i] ^= (uint8_t)(1u << bit);
			answer_read(&n, ANSWER_WATCH, bytes, size);
			answer_free(&n);
			free(bytes);
		}
	ok(true, "an answer with a wrong bit does no harm");
	free(txn.at);
	free(news.at);
}

static const struct {
	const char *key;
	int64_t created, changed;
} bad_records[] = { { "", 2, 2 },  { NULL, 2, 2 }, { "a", 0, 2 },
		    { "a", 3, 2 }, { "a", -1, 2 }, { "a", 2, 0 } };

static void
records(void)
{
	size_t i;

	for (i = 0; i < sizeof(bad_records) / sizeof(bad_records[0]); i++) {
		struct wire_out w = { .failed = false };
		size_t outer, inner;
		struct answer a;
		uint8_t *bytes;

		add_header(&w, 1);
		outer = wire_begin(&w, 3);
		inner = wire_begin(&w, 1);
		add_kv(&w, 2, bad_records[i].key, "v", bad_records[i].created,
		       bad_records[i].changed);
		wire_end(&w, inner);
		wire_end(&w, outer);
		bytes = copy_of(&w, w.n);
		ok(!answer_read(&a, ANSWER_TXN, bytes, w.n), "no record: %s, %d, %d",
		   bad_records[i].key != NULL ? bad_records[i].key : "(none)",
		   (int)bad_records[i].created, (int)bad_records[i].changed);
		answer_free(&a);
		free(bytes);
		free(w.at);
	}
}

/* A known field of an unknown type. */
static void
types(void)
{
	static const char *const wrong[] = { "\x08\x01", "\x0a\x00\x12\x00", "\x0a\x00\x18\x01" };
	size_t i;

	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct wire_out w = { .at = (uint8_t *)(uintptr_t)wrong[i] };
		uint8_t *bytes = copy_of(&w, i == 0 ? 2 : 4);
		struct answer a;

		ok(!answer_read(&a, ANSWER_TXN, bytes, i == 0 ? 2 : 4), "a field of another type");
		answer_free(&a);
		free(bytes);
	}
}

int
main(void)
{
	requests();
	numbers();
	nonsense();
	answers();
	other_answers();
	many_answers();
	watches();
	pieces();
	records();
	types();
	return tap_done();
}
