/* SPDX-License-Identifier: ISC */
/*
 * gets.c - what a get returns, and in which order.
 */
#include <stdio.h>
#include <string.h>

#include "../../helpers/tap.h"
#include "suite.h"

/* The last letters of the keys that were found. */
static const char *
letters(const struct outcome *o, size_t n)
{
	static char text[16];
	size_t i;

	for (i = 0; i < o->found[n].n && i < 8; i++)
		text[i] = o->kv[n][i].key[strlen(o->kv[n][i].key) - 1];
	text[i] = '\0';
	return text;
}

static bool
finds(const struct outcome *o, size_t n, const char *want, uint64_t count)
{
	if (strcmp(letters(o, n), want) == 0 && o->found[n].count == count)
		return true;
	tap_note("found %s of %llu", letters(o, n), (unsigned long long)o->found[n].count);
	return false;
}

static void
ordered(struct records *r)
{
	const struct outcome *o;
	struct txn_item *get;
	struct txn *x = txn_new();
	int64_t c, d;

	txn_get(x, key("get/"), key("get0"))->oldest_first = true;
	get = txn_get(x, key("get/"), key("get0"));
	get->oldest_first = true;
	get->limit = 2;
	o = did(r, x);
	ok(finds(o, 0, "bdac", 4), "the oldest first");
	ok(finds(o, 1, "bd", 4), "the two that are oldest");
	c = o->kv[0][3].created;
	d = o->kv[0][1].created;
	x = txn_new();
	txn_get(x, key("get/"), key("get0"))->newest_before = c;
	txn_get(x, key("get/c"), key("get0"))->newest_before = c;
	txn_get(x, key("get/c"), key("get0"))->newest_before = d;
	o = did(r, x);
	ok(strcmp(letters(o, 0), "a") == 0, "the newest before one that is there");
	ok(strcmp(letters(o, 1), "d") == 0, "... in a range");
	ok(strcmp(letters(o, 2), "") == 0, "... where nothing is older");
}

void
cases_get(void)
{
	struct records *r = store_open();
	const struct outcome *o;
	struct txn_item *get;
	struct txn *x;

	put(r, key("get/b"), "1", 0);
	put(r, key("get/d"), "2", 0);
	put(r, key("get/a"), "3", 0);
	put(r, key("get/c"), "4", 0);
	put(r, key("get0"), "5", 0);

	x = txn_new();
	txn_get(x, key("get/"), key("get0"));
	txn_get(x, key("get/b"), key("get/d"));
	txn_get(x, key("get/b"), NULL);
	txn_get(x, key("get/bb"), key("get/bc"));
	get = txn_get(x, key("get/"), key("get0"));
	get->limit = 3;
	get->keys_only = true;
	o = did(r, x);
	ok(finds(o, 0, "abcd", 4), "a range, by its keys");
	ok(finds(o, 1, "bc", 2), "a range ends before its end");
	ok(finds(o, 2, "b", 1) && strcmp(o->text[2][0], "1") == 0, "one key");
	ok(finds(o, 3, "", 0), "an empty range");
	ok(finds(o, 4, "abc", 4), "a limit, and how many there are all the same");
	ok(o->kv[4][0].value_size == 0 && *o->text[4][0] == '\0' && o->kv[4][0].created > 0,
	   "keys alone, with their revisions");
	ordered(r);
	records_close(r);
}
