/* SPDX-License-Identifier: ISC */
/*
 * differ.c - the same transactions at random to the store in memory and to a real one: every answer
 * must be the same.
 *
 *	differ-SCHEME [-n TRANSACTIONS] [-s SEED] URL
 *
 * Nobody else may write to the store meanwhile.  Its revisions are ahead of memory's by a number that
 * the first transaction shows.
 */
#include <err.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../memory/memory.h"
#include "clock.h"

#define KEYS   6
#define LEASES 3

static struct records *real;
static struct memory *memory;
static int64_t ahead;
static int64_t lease[LEASES];
static char base[64];

static unsigned
below(unsigned n)
{
	return (unsigned)random() % n;
}

/* ---- a transaction at random: twice, as each store takes its own ---- */

static const char *
some_key(unsigned i)
{
	static char ring[4][96];
	static unsigned at;

	at = (at + 1) % 4;
	snprintf(ring[at], sizeof(ring[at]), "%s%c", base, 'a' + (int)i);
	return ring[at];
}

/* A revision of memory's, near its last ones; the store's own is `ahead' of it. */
static int64_t
some_revision(void)
{
	int64_t revision = memory_revision(memory) - below(6);

	return revision > 0 ? revision : 1;
}

static void
add_compare(struct txn *x[2])
{
	unsigned kind = below(4), from = below(KEYS), end = from + 1 + below(KEYS);
	const char *last = below(2) == 0 ? NULL : some_key(end);
	int64_t revision = below(5) == 0 ? 0 : some_revision();
	int i;

	for (i = 0; i < 2; i++) {
		int64_t own = revision == 0 || i == 0 ? revision : revision + ahead;

		if (kind == 0)
			txn_if_absent(x[i], some_key(from), last);
		else if (kind == 1)
			txn_if_created(x[i], some_key(from), own);
		else if (kind == 2)
			txn_if_changed(x[i], some_key(from), own);
		else
			txn_if_no_news(x[i], some_key(from), last, own);
	}
}

static void
add_get(struct txn *x[2])
{
	unsigned from = below(KEYS), end = from + 1 + below(KEYS), limit = below(3);
	bool oldest_first = below(2) != 0, keys_only = below(2) != 0;
	int64_t before = below(3) == 0 ? some_revision() + 1 : 0;
	int i;

	for (i = 0; i < 2; i++) {
		struct txn_item *get = txn_get(x[i], some_key(from), some_key(end));

		get->oldest_first = oldest_first;
		get->limit = limit;
		get->keys_only = keys_only;
		get->newest_before = before == 0 || i == 0 ? before : before + ahead;
	}
}

/* One put at most, as the order of records that were created together is nobody's. */
static void
add_change(struct txn *x[2])
{
	unsigned from = below(KEYS), kind = below(3), on = below(LEASES + 2), size = below(9);
	static const char bytes[] = "\0one\0two\377";
	int i;

	for (i = 0; i < 2; i++) {
		if (kind == 0)
			txn_delete(x[i], some_key(from), some_key(from + 1 + size % 3));
		else
			txn_put(x[i], some_key(from), bytes, size, on < LEASES ? lease[on] : 0);
	}
}

static void
make(struct txn *x[2])
{
	unsigned n;
	int part, i;

	x[0] = txn_new();
	x[1] = txn_new();
	for (n = below(3); n > 0; n--)
		add_compare(x);
	for (part = 0; part < 2; part++) {
		for (n = below(3); n > 0; n--)
			add_get(x);
		if (below(3) > 0)
			add_change(x);
		for (n = below(3); n > 0; n--)
			add_get(x);
		for (i = 0; part == 0 && i < 2; i++)
			txn_otherwise(x[i]);
	}
}

/* ---- to compare two answers ---- */

static bool
same_record(const struct record_kv *a, const struct record_kv *b)
{
	return strcmp(a->key, b->key) == 0 && a->value_size == b->value_size &&
	       memcmp(a->value, b->value, a->value_size) == 0 && a->created + ahead == b->created &&
	       a->changed + ahead == b->changed && a->lease == b->lease;
}

static bool
same(const struct records_answer *a, const struct records_answer *b)
{
	size_t i, j;

	if (a->result != b->result)
		return false;
	if (a->result != RECORDS_OK)
		return true;
	if (a->held != b->held || a->n != b->n || a->revision + ahead != b->revision)
		return false;
	for (i = 0; i < a->n; i++) {
		if (a->found[i].n != b->found[i].n || a->found[i].count != b->found[i].count)
			return false;
		for (j = 0; j < a->found[i].n; j++)
			if (!same_record(&a->found[i].kv[j], &b->found[i].kv[j]))
				return false;
	}
	return true;
}

static void
show(const char *whose, const struct records_answer *a)
{
	size_t i, j;

	printf("%s: result %d, %s, revision %" PRId64 "\n", whose, (int)a->result,
	       a->held ? "held" : "not held", a->revision);
	for (i = 0; i < a->n; i++)
		for (j = 0; j < a->found[i].n || j == 0; j++) {
			const struct record_kv *kv = a->found[i].kv;

			printf("  %zu: of %" PRIu64, i, a->found[i].count);
			if (a->found[i].n > 0)
				printf(" %s, %zu bytes, created %" PRId64 ", changed %" PRId64
				       ", lease %" PRId64,
				       kv[j].key, kv[j].value_size, kv[j].created, kv[j].changed,
				       kv[j].lease);
			printf("\n");
		}
}

/* ---- to ask the real store ---- */

struct asked {
	const struct records_answer *memory;
	bool done, differs;
};

static void
answered(void *context, const struct records_answer *answer)
{
	struct asked *a = context;

	a->done = true;
	if (ahead == 0) /* of the first one, which is a put */
		ahead = answer->revision - a->memory->revision;
	a->differs = !same(a->memory, answer);
	if (!a->differs)
		return;
	show("memory", a->memory);
	show("store", answer);
	if (answer->text != NULL)
		printf("%s\n", answer->text);
}

static bool
agrees(struct asked *a)
{
	while (!a->done) {
		struct pollfd p = { .fd = records_fd(real), .events = POLLIN };
		uint64_t now = flki_boottime_ns(), due = records_due(real);

		poll(&p, 1, due <= now ? 0 : due == UINT64_MAX ? -1 : (int)((due - now) / MS) + 1);
		records_step(real);
	}
	return !a->differs;
}

static bool
transact(struct txn *x[2])
{
	struct memory_answer *answer = memory_txn(memory, x[0], 0);
	struct asked a = { .memory = &answer->a };
	bool good;

	records_txn(real, x[1], 5000, answered, &a);
	good = agrees(&a);
	memory_answer_free(answer);
	txn_free(x[0]);
	return good;
}

/* Ends a lease, and begins another in its place. */
static bool
change_lease(unsigned i)
{
	struct memory_answer *answer;
	struct asked a = { .done = false };
	bool good = true;

	if (lease[i] != 0) {
		answer = memory_end(memory, lease[i], 0);
		a.memory = &answer->a;
		records_end(real, lease[i], 5000, answered, &a);
		good = agrees(&a);
		memory_answer_free(answer);
	}
	lease[i] = (int64_t)getpid() << 31 | random();
	answer = memory_lease(memory, lease[i], 10000, 0);
	a = (struct asked){ .memory = &answer->a };
	records_lease(real, lease[i], 10000, 5000, answered, &a);
	good = agrees(&a) && good;
	memory_answer_free(answer);
	return good;
}

/* ---- all of it ---- */

static void
open_both(const char *text, unsigned seed)
{
	static struct url url;
	char why[RECORDS_TEXT] = "";
	const char *wrong = url_parse(&url, text);

	if (wrong != NULL || records_open(&real, &url, 500, why) != 0)
		errx(2, "%s: %s", text, wrong != NULL ? wrong : why);
	memory = memory_new();
	snprintf(base, sizeof(base), "/differ/%u.%ld/", seed, (long)getpid());
	srandom(seed);
}

static void
begin(void)
{
	struct txn *x[2] = { txn_new(), txn_new() };

	txn_put(x[0], some_key(0), "", 0, 0);
	txn_put(x[1], some_key(0), "", 0, 0);
	if (!transact(x))
		errx(1, "the first transaction differs");
}

int
main(int argc, char **argv)
{
	unsigned long n = 1000, i;
	unsigned seed = 1;
	struct txn *x[2];
	int c;

	while ((c = getopt(argc, argv, "n:s:")) != -1) {
		if (c == 'n')
			n = strtoul(optarg, NULL, 10);
		else if (c == 's')
			seed = (unsigned)strtoul(optarg, NULL, 10);
		else
			return 2;
	}
	if (optind + 1 != argc)
		errx(2, "one URL is needed");
	open_both(argv[optind], seed);
	begin();
	for (i = 0; i < n; i++) {
		bool good = true;

		if (i < LEASES || below(20) == 0)
			good = change_lease(i < LEASES ? (unsigned)i : below(LEASES));
		make(x);
		if (!transact(x) || !good)
			errx(1, "seed %u: transaction %lu differs", seed, i);
	}
	records_close(real);
	memory_free(memory);
	printf("seed %u: %lu transactions, no difference\n", seed, n);
	return 0;
}
