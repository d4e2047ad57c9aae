/* SPDX-License-Identifier: ISC */
/*
 * turns.c - the order of a fair limiter's line in a store, against a twin that keeps all ends, and asks anew after
 * each grant; and how what is counted is written and read.
 */
#include "protocol/turns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/tap.h"
#include "flocklimit.h"
#include "records/txn.h"

#define KEY     FLK_FAIR_KEY
#define WAITERS 40
#define KEYS    8

static const struct key limiter = { .s = "/team/lim/cfg" };

static struct record
of(const char *key, uint32_t weight, uint32_t share)
{
	struct fleet_want want = { .weight = weight };

	snprintf(want.key, sizeof(want.key), "%s", key);
	return (
	    struct record){ .weight = weight, .share = share, .key = turns_key(KEY, &want, "db1") };
}

/* The order of so many, as letters from a. */
static char *
order(const struct turns *t, const struct record *r, size_t n)
{
	static char text[WAITERS + 1];
	struct rank rank[WAITERS];
	size_t i;

	for (i = 0; i < n; i++)
		rank[i] = (struct rank){ .record = &r[i], .at = i };
	turns_rank(t, KEY, rank, n);
	for (i = 0; i < n; i++)
		text[i] = (char)('a' + rank[i].at);
	text[n] = '\0';
	return text;
}

/* ---- the order ---- */

static void
orders(void)
{
	struct record two[] = { of("x", 1, 1), of("x", 1, 1), of("x", 1, 1),
				of("y", 1, 1), of("y", 1, 1), of("y", 1, 1) };
	struct record share[] = { of("x", 1, 2), of("x", 1, 2), of("x", 1, 2),
				  of("x", 1, 2), of("y", 1, 1), of("y", 1, 1) };
	struct record heavy[] = { of("x", 3, 1), of("x", 3, 1), of("y", 1, 1),
				  of("y", 1, 1), of("y", 1, 1), of("y", 1, 1) };
	struct record before[] = { of("x", 1, 1), { .weight = 1 }, of("x", 1, 1), of("y", 1, 1) };
	struct turns t = { .turn = 0 };

	ok(strcmp(order(NULL, two, 6), "adbecf") == 0, "two keys have turns: %s",
	   order(NULL, two, 6));
	ok(strcmp(order(NULL, share, 6), "aebcfd") == 0, "with a share of two, two each: %s",
	   order(NULL, share, 6));
	ok(strcmp(order(NULL, heavy, 6), "acdebf") == 0, "weights count: %s",
	   order(NULL, heavy, 6));
	ok(strcmp(order(NULL, before, 4), "abdc") == 0,
	   "one that came before the limiter was fair keeps its place: %s", order(NULL, before, 4));
	turns_give(&t, KEY, &two[0]);
	turns_give(&t, KEY, &two[1]);
	ok(strcmp(order(&t, two + 2, 2), "ba") == 0, "what was given counts: %s",
	   order(&t, two + 2, 2));
}

/* A key that was away begins where the others are. */
static void
comes_again(void)
{
	struct record x = of("x", 1, 1), y = of("y", 1, 1);
	struct record line[] = { x, x, y, y };
	struct turns t = { .turn = 0 };
	int i;

	turns_give(&t, KEY, &y);
	for (i = 0; i < 100; i++)
		turns_give(&t, KEY, &x);
	ok(t.n == 1, "a key behind the turn is forgotten");
	ok(strcmp(order(&t, line, 4), "cadb") == 0, "and gains nothing by having been away: %s",
	   order(&t, line, 4));
}

/* ---- the twin ---- */

struct twin {
	uint64_t turn, end[KEYS];
};

/* Of those that are left, which is the next: by its tag, and then by its place. */
static size_t
twin_next(const struct twin *t, const unsigned *key, const bool *gone, uint64_t *tag)
{
	size_t i, next = WAITERS;

	for (i = 0; i < WAITERS; i++) {
		uint64_t own = t->end[key[i]] > t->turn ? t->end[key[i]] : t->turn;

		if (!gone[i] && (next == WAITERS || own < *tag)) {
			next = i;
			*tag = own;
		}
	}
	return next;
}

static unsigned
number_below(unsigned n)
{
	static uint64_t state = 20261130;

	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(state >> 33) % n;
}

/* Forty that wait are granted in the twin's order, each planned as if the rest were to be granted at once. */
static bool
agrees(struct turns *t, struct twin *twin)
{
	struct record r[WAITERS];
	bool gone[WAITERS] = { false };
	unsigned key[WAITERS], share[KEYS], i, given = number_below(WAITERS);
	struct rank rank[WAITERS];

	for (i = 0; i < KEYS; i++)
		share[i] = 1 + number_below(3);
	for (i = 0; i < WAITERS; i++) {
		char word[2] = { (char)('k' + (key[i] = number_below(KEYS))), '\0' };

		r[i] = of(word, 1 + number_below(5), share[key[i]]);
		rank[i] = (struct rank){ .record = &r[i], .at = i };
	}
	turns_rank(t, KEY, rank, WAITERS);
	for (i = 0; i < given; i++) {
		uint64_t tag = 0, cost;
		size_t next = twin_next(twin, key, gone, &tag);

		if (rank[i].at != next || rank[i].tag != tag)
			return false;
		gone[next] = true;
		cost = (r[next].weight * UINT64_C(65536) + r[next].share - 1) / r[next].share;
		twin->turn = tag;
		twin->end[key[next]] = tag + cost;
		turns_give(t, KEY, &r[next]);
	}
	return t->turn == twin->turn;
}

static void
twins(void)
{
	struct turns t = { .turn = 0 };
	struct twin twin = { .turn = 0 };
	int i;

	for (i = 0; i < 2000 && agrees(&t, &twin); i++)
		;
	is(i, 2000, "two thousand lines are served in the order of the twin");
}

/* ---- more keys than are kept ---- */

static void
many(void)
{
	struct turns t = { .turn = 0 };
	struct record r;
	char word[16];
	int i;

	for (i = 0; i < TURNS_KEYS + 10; i++) {
		snprintf(word, sizeof(word), "%d", i);
		r = of(word, 1000 + (uint32_t)i, 1);
		turns_give(&t, KEY, &r);
	}
	ok(t.n == TURNS_KEYS && t.turn == 1009 * UINT64_C(65536),
	   "of more than have room the turn reaches the smallest ends: %llu",
	   (unsigned long long)t.turn);
}

/* One that had much waits while keys come that are new, without end. */
static void
patience(void)
{
	struct record line[2] = { of("much", 4, 1) };
	struct turns t = { .turn = 0 };
	char word[16];
	int i;

	turns_give(&t, KEY, &line[0]);
	line[0].weight = 1;
	for (i = 0; i < 10 * TURNS_KEYS; i++) {
		snprintf(word, sizeof(word), "%d", i);
		line[1] = of(word, 1, 1);
		if (*order(&t, line, 2) == 'a')
			break;
		turns_give(&t, KEY, &line[1]);
	}
	ok(i < 5 * TURNS_KEYS, "it has its turn after %d others", i);
}

/* ---- keys, and their texts ---- */

static void
texts(void)
{
	struct fleet_want want = { .uid = 1000, .session = 77 };
	char user[FLK_KEY], session[FLK_KEY], none[FLK_KEY], word[FLK_KEY];
	struct record r = { .weight = 1 };

	turns_key_text(FLK_FAIR_USER, &want, "db1", user);
	turns_key_text(FLK_FAIR_SESSION, &want, "db1", session);
	turns_key_text(FLK_FAIR_KEY, &want, "db1", none);
	strcpy(want.key, "nightly");
	turns_key_text(FLK_FAIR_KEY, &want, "db1", word);
	ok(strcmp(user, "1000") == 0 && strcmp(session, "77@db1") == 0 && strcmp(none, "-") == 0 &&
	       strcmp(word, "nightly") == 0,
	   "a key is a user, a session of a machine, or a word: %s %s %s %s", user, session, none,
	   word);
	turns_key_text(FLK_FAIR_OFF, &want, "db1", none);
	ok(*none == '\0' && turns_key(FLK_FAIR_OFF, &want, "db1") == 0, "or none");
	ok(turns_key(FLK_FAIR_SESSION, &want, "a-machine-with-a-long-name-1") !=
	       turns_key(FLK_FAIR_SESSION, &want, "a-machine-with-a-long-name-2"),
	   "machines with long names are told apart");
	r.key = turns_key(FLK_FAIR_USER, &want, "db1");
	ok(turns_key_of(FLK_FAIR_USER, &r) == r.key && turns_key_of(FLK_FAIR_KEY, &r) == 0,
	   "a key of another kind does not count");
}

/* ---- in the store ---- */

static struct turns *
read_text(const char *text)
{
	char *copy = strdup(text);
	struct record_kv kv = { .value = copy, .value_size = strlen(text), .changed = 9 };
	struct turns *t = turns_read(&kv);

	free(copy);
	return t;
}

static void
records(void)
{
	static const char *const bad[] = { "",       "1",       "2 3",      "1 x",     "1 2 a",
					   "1 2 a ", "1 2 a x", "1 2 a 3x", "1 2a 3 ", "1 2 a 3 " };
	struct turns was = { .turn = 5 }, *is;
	struct record r = of("x", 7, 3);
	struct txn *x = txn_new();
	size_t i;

	turns_give(&was, KEY, &r);
	turns_put(KEY, &was, x, &limiter);
	ok(strcmp(x->item[0].key, "/team/lim/cfg//around") == 0, "turns have a key of their own");
	is = read_text(x->item[0].value);
	ok(!is->damaged && is->turn == was.turn && is->n == 1 && is->of[0].key == was.of[0].key &&
	       is->of[0].end == was.of[0].end && is->changed == 9,
	   "and are read again: %s", x->item[0].value);
	free(is);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		is = read_text(bad[i]);
		ok(is->damaged && is->turn == 0 && is->n == 0 && is->changed == 9,
		   "what makes no sense counts nothing: '%s'", bad[i]);
		free(is);
	}
	turns_put(FLK_FAIR_OFF, &was, x, &limiter);
	turns_add_compare(FLK_FAIR_OFF, &was, x, &limiter);
	ok(x->n == 1, "a limiter that is not fair has none");
	txn_free(x);
}

int
main(void)
{
	orders();
	comes_again();
	twins();
	many();
	patience();
	texts();
	records();
	return tap_done();
}
