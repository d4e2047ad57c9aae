/* SPDX-License-Identifier: ISC */
/*
 * look.c - asks the store for a limiter in one transaction, and reads the answer: see look.h.
 */
#include "look.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "setting.h"

void
look_init(struct look *l, const struct key *limiter)
{
	*l = (struct look){ .limiter = limiter, .config = flki_no_settings };
}

void
look_free(struct look *l)
{
	free(l->holder);
	free(l->waiter);
	free(l->life);
	free(l->turns);
	free(l->unread);
	free(l->trouble);
	look_init(l, l->limiter);
}

void
look_line(struct look *l)
{
	free(l->unread);
	l->unread = NULL;
	l->batch = 0;
}

/* ---- asking ---- */

static struct txn_item *
get_kind(struct txn *x, const struct key *limiter, char kind)
{
	struct key from = key_of(limiter, kind, NULL), end = key_end(&from);

	return txn_get(x, from.s, end.s);
}

void
look_add_steering(struct txn *x, const struct key *limiter)
{
	struct key from, end;

	key_steering(limiter, &from, &end);
	txn_get(x, from.s, end.s);
}

void
look_add(struct txn *x, const struct key *limiter, enum look_kind kind)
{
	struct key tail = key_tail(limiter);
	struct txn_item *line;

	look_add_steering(x, limiter);
	get_kind(x, limiter, 'h');
	if (kind != LOOK_BATCH) {
		line = get_kind(x, limiter, 'w');
		line->keys_only = kind == LOOK_NEW;
		line->oldest_first = kind >= LOOK_LINE;
		line->limit = kind == LOOK_NEW    ? 1
			      : kind == LOOK_LINE ? LOOK_FIRST
			      : kind == LOOK_LONG ? LOOK_NEXT
						  : 0;
	}
	if (kind != LOOK_NEW)
		txn_get(x, tail.s, NULL);
	if (kind <= LOOK_LONG)
		return;
	get_kind(x, limiter, 'l')->keys_only = true;
	get_kind(x, limiter, 's')->keys_only = true;
	get_kind(x, limiter, 't')->keys_only = true;
	if (kind != LOOK_ALL)
		return;
	get_kind(x, limiter, 'p');
	get_kind(x, limiter, 'n');
}

struct txn *
look_txn(const struct key *limiter, enum look_kind kind)
{
	struct txn *x = txn_new();

	look_add(x, limiter, kind);
	return x;
}

/* ---- finding ---- */

static struct look_taker *
find(struct look_taker *t, size_t n, const char *self)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (memcmp(t[i].self, self, STORE_SELF) == 0)
			return &t[i];
	return NULL;
}

struct look_taker *
look_holder(const struct look *l, const char *self)
{
	return find(l->holder, l->holders, self);
}

struct look_taker *
look_waiter(const struct look *l, const char *self)
{
	return find(l->waiter, l->waiters, self);
}

/* A store has them in order, and so the last is tried first. */
size_t
look_place(const void *array, size_t n, size_t size, const char *name)
{
	const char *at = array;
	size_t from = 0, to = n, middle = n > 0 ? n - 1 : 0;

	for (; from < to; middle = from + (to - from) / 2)
		if (strcmp(at + middle * size, name) < 0)
			from = middle + 1;
		else
			to = middle;
	return from;
}

struct look_life *
look_life(const struct look *l, const char *name)
{
	size_t i = look_place(l->life, l->lives, sizeof(*l->life), name);

	return i < l->lives && strcmp(l->life[i].name, name) == 0 ? &l->life[i] : NULL;
}

bool
look_is_alive(const struct look *l, const struct look_taker *t)
{
	const struct look_life *life = look_life(l, t->record.life);

	return t->record.life[0] == '\0' || (life != NULL && life->leases > 0);
}

size_t
look_living(const struct look *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->waiters; i++)
		n += look_is_alive(l, &l->waiter[i]);
	return n;
}

uint64_t
look_ticket(const struct look_taker *t)
{
	return t->record.ticket != 0 ? t->record.ticket : (uint64_t)t->created;
}

uint64_t
look_fence(int64_t created, uint32_t seat)
{
	return (uint64_t)created << 16 | seat % ROOM_SEATS;
}

struct rank *
look_rank(const struct look *l, size_t *n)
{
	struct rank *rank = calloc(l->waiters + 1, sizeof(*rank));
	size_t dead = l->waiters, i;

	*n = 0;
	if (rank == NULL)
		return NULL;
	for (i = 0; i < l->waiters; i++)
		rank[l->has_lives && !look_is_alive(l, &l->waiter[i]) ? --dead : (*n)++] =
		    (struct rank){ .record = &l->waiter[i].record, .at = i };
	turns_rank(l->turns, l->config.fair, rank, *n);
	return rank;
}

bool
look_is_short(const struct look *l)
{
	return l->config.fair != FLK_FAIR_OFF && !l->has_lives && l->waiters < l->in_line;
}

void
look_fill(const struct look *l, struct room *room, const char *but)
{
	size_t i;

	for (i = 0; i < l->holders; i++)
		if (but == NULL || strcmp(l->holder[i].self, but) != 0)
			room_add(room, l->holder[i].record.weight, l->holder[i].record.limit,
				 l->holder[i].record.seat);
}

bool
look_has_room(const struct look *l)
{
	struct room room = { .set = &l->config };
	uint32_t under;
	size_t i;

	look_fill(l, &room, NULL);
	for (i = 0; i < l->waiters; i++) {
		const struct record *w = &l->waiter[i].record;
		if (room_fits(&room, 1, room_own(w->limit, l->config.declared, w->under), &under))
			return true;
	}
	return false;
}

/* ---- reading ---- */

static bool
trouble(struct look *l, const char *what, const char *is)
{
	free(l->trouble);
	if (asprintf(&l->trouble, "%s%s %s", what, l->limiter->s, is) == -1)
		l->trouble = NULL;
	return false;
}

#define NONSENSE "makes no sense: flocklimitctl check"

/* One more of an array; NULL for want of memory. */
static void *
grow(void *array, size_t *n, size_t *room, size_t size)
{
	void **at = array, *more;

	if (*n == *room) {
		size_t wanted = *room == 0 ? 1 : *room * 2; /* most waiters look at one */
		if ((more = reallocarray(*at, wanted, size)) == NULL)
			return NULL;
		*at = more;
		*room = wanted;
	}
	more = (char *)*at + (*n)++ * size;
	memset(more, 0, size);
	return more;
}

struct look_taker *
look_add_holder(struct look *l)
{
	return grow(&l->holder, &l->holders, &l->holder_room, sizeof(*l->holder));
}

struct look_taker *
look_add_waiter(struct look *l)
{
	return grow(&l->waiter, &l->waiters, &l->waiter_room, sizeof(*l->waiter));
}

struct look_life *
look_add_life(struct look *l, const char *name)
{
	size_t i = look_place(l->life, l->lives, sizeof(*l->life), name);
	struct look_life *life = look_life(l, name);

	if (life != NULL || grow(&l->life, &l->lives, &l->life_room, sizeof(*life)) == NULL)
		return life;
	life = &l->life[i];
	memmove(life + 1, life, (l->lives - 1 - i) * sizeof(*life));
	memset(life, 0, sizeof(*life));
	memcpy(life->name, name, STORE_SELF);
	return life;
}

static bool
read_taker(struct look_taker *t, const struct record_kv *kv, const char *self)
{
	if (t == NULL)
		return false;
	memcpy(t->self, self, STORE_SELF);
	record_decode(&t->record, kv->value, kv->value_size);
	t->created = kv->created;
	t->changed = kv->changed;
	return true;
}

static bool
read_waiter(struct look *l, enum look_kind kind, const struct record_kv *kv, const char *self)
{
	/* It has but a key, which counts. */
	if (kind == LOOK_NEW && kv->value_size == 0)
		return true;
	return read_taker(look_add_waiter(l), kv, self);
}

void
look_show_life(struct look_life *life, const struct record_kv *kv)
{
	life->leases++;
	if (kv->created < life->shown)
		return;
	life->shown = kv->created;
	life->lease = kv->lease;
}

static bool
read_life(struct look *l, char kind, const struct record_kv *kv, const char *name)
{
	struct look_life *life = look_add_life(l, name);

	if (life == NULL)
		return false;
	if (kind == 'l') {
		look_show_life(life, kv);
	} else if (kind == 's') {
		life->mark = kv->created;
		life->marked = kv->changed;
	} else {
		life->grace = true;
	}
	return true;
}

/* After the holders and waiters. */
static bool
read_person(struct look *l, const struct record_kv *kv, const char *self)
{
	struct look_taker *t = look_holder(l, self);

	if (t == NULL)
		t = look_waiter(l, self);
	if (t != NULL)
		person_decode(&t->person, kv->value, kv->value_size);
	return true;
}

static bool
read_config(struct look *l, const struct record_kv *kv)
{
	const char *is;

	l->config_mod = kv->changed;
	if (config_decode(&l->config, kv->value, kv->value_size))
		return true;
	is = config_trouble(kv->value, kv->value_size);
	return is != NULL ? trouble(l, "", is) : trouble(l, "what is kept in ", NONSENSE);
}

static void
read_tail(struct look *l, const struct record_kv *kv)
{
	const char *self = kv->value, *life = kv->value + STORE_SELF;

	if (kv->value_size != 2 * STORE_SELF - 1 || kv->value[STORE_SELF - 1] != ' ' ||
	    !key_is_self(life))
		return;
	memcpy(l->tail, self, STORE_SELF - 1);
	memcpy(l->tail_life, life, STORE_SELF);
	l->tail_mod = kv->changed;
	if (!key_is_self(l->tail))
		l->tail[0] = '\0';
}

static bool
read_one(struct look *l, enum look_kind of, const struct record_kv *kv)
{
	char self[STORE_SELF];
	char kind = key_parse(l->limiter, kv->key, self);

	switch (kind) {
	case 'c':
		return read_config(l, kv);
	case 'h':
		return read_taker(look_add_holder(l), kv, self);
	case 'w':
		return read_waiter(l, of, kv, self);
	case 'l':
	case 's':
	case 't':
		return read_life(l, kind, kv, self);
	case 'p':
		return read_person(l, kv, self);
	case 'a':
	case 'r':
		starts_read(&l->starts, kind, kv);
		return true;
	case 'o':
		free(l->turns);
		l->turns = turns_read(kv);
		return l->turns != NULL;
	case 'z':
		read_tail(l, kv);
		return true;
	default:
		return true;
	}
}

static void
clear(struct look *l)
{
	l->config = flki_no_settings;
	l->starts = (struct starts){ .changed = 0 };
	free(l->turns);
	l->turns = NULL;
	l->config_mod = 0;
	l->holders = l->waiters = l->lives = 0;
	l->in_line = 0;
	l->tail[0] = l->tail_life[0] = '\0';
	l->tail_mod = 0;
	free(l->trouble);
	l->trouble = NULL;
}

bool
look_read(struct look *l, enum look_kind kind, const struct records_answer *answer)
{
	char self[STORE_SELF];
	size_t i, j;

	clear(l);
	l->has_lives = kind >= LOOK_LIVES;
	l->read = l->revision = answer->revision;
	for (i = 0; i < answer->n; i++) {
		const struct records_found *f = &answer->found[i];

		for (j = 0; j < f->n; j++)
			if (!read_one(l, kind, &f->kv[j]))
				return l->trouble == NULL
					   ? trouble(l, "what is kept below ", NONSENSE)
					   : false;
		if (f->n > 0 && f->count > l->in_line &&
		    key_parse(l->limiter, f->kv[0].key, self) == 'w')
			l->in_line = f->count;
	}
	return l->revision > 0 || trouble(l, "what is kept below ", NONSENSE);
}

void
look_meet(struct look *l, const struct records_answer *answer)
{
	char self[STORE_SELF];
	size_t i, j;

	for (i = 0; i < answer->n; i++)
		for (j = 0; j < answer->found[i].n; j++)
			if (key_parse(l->limiter, answer->found[i].kv[j].key, self) == 'p')
				read_person(l, &answer->found[i].kv[j], self);
}
