/* SPDX-License-Identifier: ISC */
/*
 * tally.c - see tally.h.
 */
#include "tally.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "lib/state.h" /* for its buckets alone */

#define TALLY_VERSION 1
#define NUMBERS       (1 + 2 * (FLK_BUCKETS + 1))
#define TALLY_TEXT    (NUMBERS * 21 + 8)

union numbers {
	struct tally t;
	uint64_t n[NUMBERS];
};

_Static_assert(sizeof(struct tally) == NUMBERS * sizeof(uint64_t), "a tally is these numbers");

struct key
key_tally(const struct key *limiter, uint32_t seat)
{
	char self[STORE_SELF];

	snprintf(self, sizeof(self), "%016" PRIx32, seat);
	return key_of(limiter, 'n', self);
}

void
tally_get(struct txn *x, const struct key *limiter, uint32_t seat)
{
	struct key n = key_tally(limiter, seat);

	txn_get(x, n.s, NULL);
}

/* "1 RELEASED COUNT... SUM COUNT... SUM" */
void
tally_put(struct txn *x, const struct key *limiter, uint32_t seat, const struct tally *t)
{
	union numbers all = { .t = *t };
	struct key n = key_tally(limiter, seat);
	char text[TALLY_TEXT];
	size_t i, size = (size_t)snprintf(text, sizeof(text), "%d", TALLY_VERSION);

	for (i = 0; i < NUMBERS; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size, " %" PRIu64, all.n[i]);
	txn_put(x, n.s, text, size, 0);
}

static void
add(union numbers *sum, const struct record_kv *kv)
{
	union numbers more;
	const char *at = kv->value;
	char *end;
	size_t i;

	if (strtoul(at, &end, 10) != TALLY_VERSION)
		return;
	for (i = 0; i < NUMBERS && *end == ' '; i++) {
		at = end + 1;
		more.n[i] = strtoull(at, &end, 10);
		if (end == at)
			return;
	}
	if (i < NUMBERS || end != kv->value + kv->value_size)
		return;
	for (i = 0; i < NUMBERS; i++)
		sum->n[i] += more.n[i];
}

struct tally
tally_found(const struct key *limiter, const struct records_answer *a)
{
	union numbers sum = { .n = { 0 } };
	char self[STORE_SELF];
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < a->found[i].n; k++)
			if (key_parse(limiter, a->found[i].kv[k].key, self) == 'n')
				add(&sum, &a->found[i].kv[k]);
	return sum.t;
}

void
tally_count(struct tally *t, int64_t came_ms, int64_t since_ms, int64_t ended_ms)
{
	t->released++;
	flki_state_count_time(&t->waited, (uint64_t)came_ms * MS, (uint64_t)since_ms * MS);
	flki_state_count_time(&t->held, (uint64_t)since_ms * MS, (uint64_t)ended_ms * MS);
}
