/* SPDX-License-Identifier: ISC */
/*
 * suite.c - all cases: see suite.h.  Transactions are here, the others in files of their own.
 */
#include "suite.h"

#include <string.h>

#include "../../helpers/tap.h"

static void
compares(struct records *r)
{
	char a[128], none[128];
	int64_t first, then;
	struct txn *x;

	strcpy(a, key("compare/a"));
	strcpy(none, key("compare/none"));
	first = put(r, a, "one", 0);
	then = put(r, a, "two", 0);
	ok(first > 0 && then > first, "each transaction that writes has a later revision");

	x = txn_new();
	txn_if_absent(x, none, NULL);
	txn_if_created(x, a, first);
	txn_if_changed(x, a, then);
	txn_if_changed(x, none, 0);
	txn_if_no_news(x, key("compare/"), key("compare0"), then);
	txn_if_absent(x, key("compare0"), key("compare1"));
	ok(did(r, x)->a.held, "all of these hold");

#define FAILS(compare, words)                                                                    \
	do {                                                                                     \
		const struct outcome *o;                                                         \
		x = txn_new();                                                                   \
		compare;                                                                         \
		txn_put(x, none, "", 0, 0);                                                      \
		txn_otherwise(x);                                                                \
		txn_get(x, a, NULL);                                                             \
		o = did(r, x);                                                                   \
		ok(o->a.result == RECORDS_OK && !o->a.held && o->a.n == 1 && o->found[0].n == 1, \
		   words);                                                                       \
	} while (0)
	FAILS(txn_if_absent(x, a, NULL), "a key is there");
	FAILS(txn_if_absent(x, key("compare/"), key("compare0")), "a key of the range is there");
	FAILS(txn_if_created(x, a, then), "it was created earlier");
	FAILS(txn_if_created(x, none, first), "a key that is not there was not created");
	FAILS(txn_if_changed(x, a, first), "it was changed since");
	FAILS(txn_if_changed(x, a, 0), "it is there");
	FAILS(txn_if_no_news(x, key("compare/"), key("compare0"), first), "there are news");
	FAILS((txn_if_changed(x, a, then), txn_if_absent(x, a, NULL)), "one of two does not hold");
	ok(!is_there(r, none), "nothing of a transaction was done whose compares did not hold");
}

static void
writes(struct records *r)
{
	const struct outcome *o;
	char a[128], b[128];
	int64_t before, created;
	struct txn *x;

	strcpy(a, key("write/a"));
	strcpy(b, key("write/b"));
	before = put(r, a, "", 0);

	x = txn_new();
	txn_put(x, b, "x\0y", 3, 0);
	txn_get(x, b, NULL);
	txn_delete(x, a, NULL);
	txn_get(x, a, NULL);
	txn_get(x, key("write/"), key("write0"));
	o = did(r, x);
	ok(o->a.held && o->a.n == 5, "each operation has a result");
	ok(o->found[1].n == 1 && o->found[3].n == 0 && o->found[4].n == 1,
	   "a get sees what came before it in its transaction");
	ok(o->found[2].count == 1 && o->a.revision > before, "a delete says how many records");
	ok(o->kv[1][0].value_size == 3 && memcmp(o->text[1][0], "x\0y", 4) == 0,
	   "a value may have any bytes, and a NUL follows");
	is(o->kv[1][0].created, o->a.revision, "it was created by that transaction");

	created = o->a.revision;
	x = txn_new();
	txn_get(x, b, NULL);
	is(did(r, x)->a.revision, created,
	   "a transaction that only reads has no revision of its own");
	x = txn_new();
	txn_delete(x, a, NULL);
	is(did(r, x)->a.revision, created, "nor has one that deletes what is not there");

	put(r, b, "again", 0);
	x = txn_new();
	txn_get(x, b, NULL);
	o = did(r, x);
	ok(o->kv[0][0].created == created && o->kv[0][0].changed > created,
	   "a record keeps its creation");
	x = txn_new();
	txn_delete(x, b, NULL);
	did(r, x);
	before = put(r, b, "", 0);
	x = txn_new();
	txn_get(x, b, NULL);
	o = did(r, x);
	is(o->kv[0][0].created, before, "a record that was deleted is created anew");
	is(o->kv[0][0].value_size, 0, "a value may be empty");
}

static void
is_refused(struct records *r)
{
	struct txn *x = txn_new();

	txn_put(x, key("refused"), "1", 1, 0);
	txn_put(x, key("refused"), "2", 1, 0);
	ok(did(r, x)->a.result != RECORDS_OK, "a transaction puts a key once");
	ok(!is_there(r, key("refused")), "... or is not done at all");
}

static void
is_full(struct records *r)
{
	size_t most = records_limits(r).operations, i;
	struct txn *x = txn_new();
	char name[32] = "full/000";

	for (i = 0; i < most; i++) {
		name[5] = (char)('0' + i / 100 % 10);
		name[6] = (char)('0' + i / 10 % 10);
		name[7] = (char)('0' + i % 10);
		txn_if_absent(x, key(name), NULL);
		txn_put(x, key(name), "", 0, 0);
		if (i == 998)
			break;
	}
	ok(did(r, x)->a.held, "it takes as many operations as the engine says");
	x = txn_new();
	txn_delete(x, key("full/"), key("full0"));
	ok(did(r, x)->found[0].count == i, "... and did all of them");
}

static void
cancelled(struct records *r)
{
	struct outcome o = { .times = 0 };
	struct txn *x = txn_new();
	struct records_call *call;

	txn_get(x, key("cancel"), NULL);
	call = records_txn(r, x, 5000, remember, &o);
	records_cancel(call);
	run_for(r, 200000000);
	is(o.times, 0, "a call that is cancelled is not answered");
}

void
cases_txn(void)
{
	struct records *r = store_open();

	compares(r);
	writes(r);
	is_refused(r);
	is_full(r);
	cancelled(r);
	records_close(r);
}

static void
clean_up(void)
{
	struct records *r = store_open();
	struct txn *x = txn_new();

	txn_delete(x, key(""), key("~"));
	did(r, x);
	records_close(r);
}

int
suite_run(const struct ground *where)
{
	ground = where;
	cases_txn();
	cases_get();
	cases_lease();
	cases_watch();
	clean_up();
	return tap_done();
}
