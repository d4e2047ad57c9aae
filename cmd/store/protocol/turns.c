/* SPDX-License-Identifier: ISC */
/*
 * turns.c - see turns.h.
 */
#include "turns.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "fnv.h"

#define TURNS_VERSION 1
#define TURN_UNIT     UINT64_C(65536)
#define MOST          (UINT64_MAX / 2) /* that any turn can have reached */
#define TURNS_TEXT    (24 + TURNS_KEYS * (17 + 21))

/* ---- keys ---- */

#define KIND 3 /* the bits of a key that say of which kind it is */

_Static_assert(FLK_FAIR_KEY <= KIND, "each kind has its number there");

uint64_t
turns_key_of(uint32_t fair, const struct record *r)
{
	return (r->key & KIND) == fair ? r->key : 0;
}

/* With as much of the host as there is room for. */
static void
write_key(uint32_t fair, const struct fleet_want *want, const char *host, char *text, size_t size)
{
	*text = '\0';
	if (fair == FLK_FAIR_USER)
		snprintf(text, size, "%" PRIu32, (uint32_t)want->uid);
	else if (fair == FLK_FAIR_SESSION)
		snprintf(text, size, "%" PRId32 "@%s", (int32_t)want->session, host);
	else if (fair == FLK_FAIR_KEY)
		snprintf(text, size, "%s", *want->key != '\0' ? want->key : "-");
}

uint64_t
turns_key(uint32_t fair, const struct fleet_want *want, const char *host)
{
	char text[FLK_KEY + STORE_HOST + 16];

	if (fair == FLK_FAIR_OFF)
		return 0;
	write_key(fair, want, host, text, sizeof(text));
	return (fnv(FNV_START, text, strlen(text)) & ~(uint64_t)KIND) | fair;
}

void
turns_key_text(uint32_t fair, const struct fleet_want *want, const char *host, char key[FLK_KEY])
{
	write_key(fair, want, host, key, FLK_KEY);
}

/* ---- ends ---- */

/* Rounded up: of a share that does not divide it, nobody gains. */
static uint64_t
cost(const struct record *r)
{
	uint32_t share = r->share != 0 ? r->share : 1;

	return (r->weight * TURN_UNIT + share - 1) / share;
}

static uint64_t
end_of(const struct turns *t, uint64_t key)
{
	size_t i;

	for (i = 0; t != NULL && i < t->n; i++)
		if (t->of[i].key == key)
			return t->of[i].end;
	return 0;
}

static uint64_t
later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* A key that begins at the turn needs no end. */
static void
forget(struct turns *t)
{
	size_t i = 0;

	while (i < t->n)
		if (t->of[i].end <= t->turn)
			t->of[i] = t->of[--t->n];
		else
			i++;
}

/* The turn moves on: if it did not, keys that are new could keep one with a large end waiting for ever. */
static void
make_room(struct turns *t)
{
	size_t i, least = 0;

	for (i = 1; i < t->n; i++)
		if (t->of[i].end < t->of[least].end)
			least = i;
	t->turn = t->of[least].end;
	forget(t);
}

void
turns_give(struct turns *t, uint32_t fair, const struct record *r)
{
	uint64_t key = turns_key_of(fair, r), tag = later(end_of(t, key), t->turn);
	size_t i;

	t->turn = tag;
	forget(t);
	if (key == 0)
		return;
	for (i = 0; i < t->n && t->of[i].key != key; i++)
		;
	if (i == TURNS_KEYS) {
		make_room(t);
		i = t->n;
	}
	t->of[i].key = key;
	t->of[i].end = flki_plus(tag, cost(r));
	t->n += i == t->n;
}

/* ---- the line ---- */

static int
by_place(const struct rank *x, const struct rank *y)
{
	return x->at < y->at ? -1 : x->at > y->at;
}

static int
by_key(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return by_place(x, y);
}

static int
by_tag(const void *a, const void *b)
{
	const struct rank *x = a, *y = b;

	return x->tag != y->tag ? (x->tag < y->tag ? -1 : 1) : by_place(x, y);
}

/*
 * A waiter without a key came when the limiter was not fair so: it keeps its place before those that come
 * later.
 */
void
turns_rank(const struct turns *t, uint32_t fair, struct rank *rank, size_t n)
{
	uint64_t turn = t != NULL ? t->turn : 0, end;
	struct rank *r;

	for (r = rank; r < rank + n; r++)
		r->key = turns_key_of(fair, r->record);
	qsort(rank, n, sizeof(*rank), by_key);
	for (r = rank; r < rank + n; r++) {
		end = r > rank && r[-1].key == r->key ? flki_plus(r[-1].tag, cost(r[-1].record))
						      : end_of(t, r->key);
		r->tag = r->key == 0 ? turn : later(end, turn);
	}
	qsort(rank, n, sizeof(*rank), by_tag);
}

/* ---- its key in the store ---- */

/* "1 TURN KEY END KEY END ..." */
static bool
read_ends(struct turns *t, const char *at, char **end)
{
	for (; *at == ' ' && t->n < TURNS_KEYS; t->n++) {
		t->of[t->n].key = strtoull(at + 1, end, 16);
		if (**end != ' ')
			return false;
		at = *end + 1;
		t->of[t->n].end = strtoull(at, end, 10);
		if (*end == at || t->of[t->n].end > MOST)
			return false;
		at = *end;
	}
	return *at == '\0';
}

struct turns *
turns_read(const struct record_kv *kv)
{
	struct turns *t = calloc(1, sizeof(*t));
	char *end;
	bool good;

	if (t == NULL)
		return NULL;
	t->changed = kv->changed;
	good = strtoul(kv->value, &end, 10) == TURNS_VERSION && *end == ' ';
	t->turn = good ? strtoull(end + 1, &end, 10) : 0;
	good = good && read_ends(t, end, &end) && end == kv->value + kv->value_size;
	good = good && t->turn <= MOST;
	if (!good)
		*t = (struct turns){ .changed = kv->changed, .damaged = true };
	return t;
}

void
turns_add_compare(uint32_t fair, const struct turns *read, struct txn *x, const struct key *limiter)
{
	struct key around = key_around(limiter);

	if (fair != FLK_FAIR_OFF)
		txn_if_changed(x, around.s, read != NULL ? read->changed : 0);
}

void
turns_put(uint32_t fair, const struct turns *t, struct txn *x, const struct key *limiter)
{
	struct key around = key_around(limiter);
	char text[TURNS_TEXT];
	size_t i, size;

	if (fair == FLK_FAIR_OFF)
		return;
	size = (size_t)snprintf(text, sizeof(text), "%d %" PRIu64, TURNS_VERSION, t->turn);
	for (i = 0; i < t->n; i++)
		size += (size_t)snprintf(text + size, sizeof(text) - size,
					 " %016" PRIx64 " %" PRIu64, t->of[i].key, t->of[i].end);
	txn_put(x, around.s, text, size, 0);
}

void
turns_delete(struct txn *x, const struct key *limiter)
{
	struct key around = key_around(limiter);

	txn_delete(x, around.s, NULL);
}
