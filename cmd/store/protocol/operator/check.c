/* SPDX-License-Identifier: ISC */
/*
 * check.c - is what the store keeps of a limiter whole?  Checks each of its keys by its kind.
 */
#include "ask.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "protocol/batch.h"
#include "protocol/run.h"
#include "protocol/starts.h"
#include "protocol/turns.h"

#define CLOCKS_DIFFER (5 * SECOND) /* without anybody's fault */

/* All keys of the limiter, in the order of their names; lines about them go to `out'. */
struct check {
	const struct key *limiter;
	const struct record_kv *kv;
	size_t n;
	bool any; /* a key of the limiter is there */
	FILE *out;
};

static int
by_key(const void *key, const void *kv)
{
	return strcmp(key, ((const struct record_kv *)kv)->key);
}

static const struct record_kv *
find(const struct check *c, char kind, const char *self)
{
	struct key k = key_of(c->limiter, kind, self);

	return bsearch(k.s, c->kv, c->n, sizeof(*c->kv), by_key);
}

static bool
is_alive(const struct check *c, const char *life)
{
	struct key l = key_of(c->limiter, 'l', life);
	size_t i;

	for (i = 0; i < c->n && strncmp(c->kv[i].key, l.s, strlen(l.s)) != 0; i++)
		;
	return i < c->n;
}

/* Who it is, for people. */
static struct person
person_of(const struct check *c, const char *self)
{
	const struct record_kv *kv = find(c, 'p', self);
	struct person p = { .pid = 0 };

	if (kv != NULL)
		person_decode(&p, kv->value, kv->value_size);
	return p;
}

/* Does any record name it? */
static bool
is_life(const struct check *c, const char *name)
{
	char self[STORE_SELF];
	struct record r;
	size_t i;

	for (i = 0; i < c->n; i++) {
		char kind = key_parse(c->limiter, c->kv[i].key, self);
		if ((kind == 'h' || kind == 'w') &&
		    record_decode(&r, c->kv[i].value, c->kv[i].value_size) &&
		    strcmp(r.life, name) == 0)
			return true;
	}
	return false;
}

static void
check_config(const struct check *c, const struct record_kv *kv)
{
	struct flk_settings config;
	const char *is;

	if (config_decode(&config, kv->value, kv->value_size))
		return;
	is = config_trouble(kv->value, kv->value_size);
	fprintf(c->out, "%s %s\n", kv->key,
		is != NULL ? is : "makes no sense: nobody can be granted anything");
}

static void
check_holder(const struct check *c, const struct record_kv *kv, const char *self)
{
	struct person p = person_of(c, self);
	struct record r;
	bool good = record_decode(&r, kv->value, kv->value_size);
	uint64_t ticket = r.ticket != 0 ? r.ticket : (uint64_t)kv->created;

	if (!good)
		fprintf(c->out, "%s makes no sense: nothing is granted beside ticket %" PRIu64 "\n",
			kv->key, ticket);
	else if (!is_alive(c, r.life))
		fprintf(c->out,
			"ticket %" PRIu64
			" holds a permit, and the store has no contact with pid %u on %s%s\n",
			ticket, p.pid, p.host, r.manual ? ": it does not pass on by itself" : "");
	if (kv->lease != 0)
		fprintf(c->out, "%s is on a lease, and may be gone while its command runs\n",
			kv->key);
}

static void
check_waiter(const struct check *c, const struct record_kv *kv, const char *self)
{
	struct record r;

	if (!record_decode(&r, kv->value, kv->value_size))
		fprintf(c->out, "%s makes no sense: cancel ticket %" PRIu64 "\n", kv->key,
			(uint64_t)kv->created);
	if (find(c, 'h', self) != NULL)
		fprintf(c->out, "%s waits, and holds a permit, too\n", kv->key);
	if (kv->lease != 0)
		fprintf(c->out, "%s is on a lease, and may be gone while its taker waits\n",
			kv->key);
}

static bool
anybody_waits(const struct check *c)
{
	char self[STORE_SELF];
	size_t i;

	for (i = 0; i < c->n; i++)
		if (key_parse(c->limiter, c->kv[i].key, self) == 'w')
			return true;
	return false;
}

/* If anybody waits, a newcomer stands behind it. */
static void
check_tail(const struct check *c, const struct record_kv *kv)
{
	char self[STORE_SELF] = "";

	if (kv->value_size >= STORE_SELF - 1)
		memcpy(self, kv->value, STORE_SELF - 1);
	if (anybody_waits(c) && find(c, 'w', self) == NULL)
		fprintf(c->out, "%s names a taker that does not wait\n", kv->key);
}

/* Whoever waits longer than one of a batch is in it. */
static void
check_batch(const struct check *c, const struct record_kv *kv)
{
	int64_t revision = batch_revision(c->limiter, kv), last = 0;
	char self[STORE_SELF];
	int second;
	size_t i;

	for (second = 0; second <= 1; second++)
		for (i = 0; i < c->n; i++) {
			const struct record_kv *w = &c->kv[i];
			if (key_parse(c->limiter, w->key, self) != 'w')
				continue;
			if (strstr(kv->value, self) != NULL && w->created <= revision)
				last = w->created > last ? w->created : last;
			else if (second && w->created < last)
				fprintf(c->out, "%s lacks ticket %" PRIu64 ": delete this key\n",
					kv->key, (uint64_t)w->created);
		}
}

static uint64_t
latest_of(const struct starts *s)
{
	uint64_t latest = s->last_ns > s->rest_ns ? s->last_ns : s->rest_ns;

	return latest > s->ramp_since_ns ? latest : s->ramp_since_ns;
}

/* Without it, all that has started is forgotten; and what a clock far ahead has counted delays all. */
static void
check_starts(const struct check *c, const struct record_kv *kv, char kind)
{
	uint64_t now = flki_clock_ns(CLOCK_REALTIME);
	struct starts s = { 0 };

	if (!starts_read(&s, kind, kv))
		fprintf(c->out, "%s makes no sense: set the pace anew\n", kv->key);
	else if (latest_of(&s) > now + CLOCKS_DIFFER)
		fprintf(c->out,
			"%s is from a machine whose clock is %" PRIu64
			" s ahead of this one's: correct the clock, and set the pace anew\n",
			kv->key, (latest_of(&s) - now) / SECOND);
}

static void
check_turns(const struct check *c, const struct record_kv *kv)
{
	struct turns *t = turns_read(kv);

	if (t != NULL && t->damaged)
		fprintf(c->out, "%s makes no sense: all keys begin anew\n", kv->key);
	free(t);
}

static void
check_stranger(const struct check *c, const struct record_kv *kv)
{
	char *key = strdup(kv->key);

	if (key != NULL)
		record_tame(key);
	fprintf(c->out, "%s is no key of a limiter\n", key != NULL ? key : "one");
	free(key);
}

static void
check_one(struct check *c, const struct record_kv *kv)
{
	char self[STORE_SELF];
	char kind = key_parse(c->limiter, kv->key, self);
	struct run run;

	c->any |= kind != 0;
	switch (kind) {
	case 'c':
		check_config(c, kv);
		break;
	case 'h':
		check_holder(c, kv, self);
		break;
	case 'w':
		check_waiter(c, kv, self);
		break;
	case 'l':
		if (kv->lease == 0)
			fprintf(c->out, "%s is on no lease: it says so for ever\n", kv->key);
		break;
	case 's':
		if (!is_life(c, self))
			fprintf(c->out, "%s belongs to no taker\n", kv->key);
		break;
	case 'p':
		if (find(c, 'h', self) == NULL && find(c, 'w', self) == NULL)
			fprintf(c->out, "%s belongs to no taker\n", kv->key);
		break;
	case 'm':
		if (!run_decode(&run, kv))
			fprintf(c->out, "%s makes no sense: flocklimitctl log leaves it out\n",
				kv->key);
		break;
	case 'e':
	case 't':
		if (kv->lease == 0)
			fprintf(c->out, "%s is on no lease: it is left behind\n", kv->key);
		break;
	case 'f':
		check_batch(c, kv);
		break;
	case 'z':
		check_tail(c, kv);
		break;
	case 'o':
		check_turns(c, kv);
		break;
	case 'a':
	case 'r':
		check_starts(c, kv, kind);
		break;
	case '?':
		check_stranger(c, kv);
		break;
	default: /* of another limiter */
		break;
	}
}

/* The lines, without the last newline; NULL for want of memory. */
static char *
lines(const struct ask *a, const struct record_kv *kv, size_t n, bool *any)
{
	struct check c = { .limiter = &a->fleet->limiter, .kv = kv, .n = n };
	char *text = NULL;
	size_t size, i;

	if ((c.out = open_memstream(&text, &size)) == NULL)
		return NULL;
	for (i = 0; i < n; i++)
		check_one(&c, &kv[i]);
	if (fclose(c.out) != 0) {
		free(text);
		return NULL;
	}
	*any = c.any;
	if (size > 0)
		text[size - 1] = '\0';
	return text;
}

static void
got_all(void *context, const struct records_answer *reply)
{
	struct ask *a = context;
	struct records_found all = records_found(reply, 0);
	bool any = false;
	char *text;

	if (!ask_went_well(a, reply))
		return;
	text = lines(a, all.kv, all.n, &any);
	if (text == NULL)
		ask_answer_code(a, -ENOMEM, NULL);
	else if (!any)
		ask_answer_code(a, -ENOENT, NULL);
	else
		ask_answer_code(a, *text != '\0' ? -FLK_DAMAGED : 0, text);
	free(text);
}

void
check_ask(struct ask *a)
{
	struct txn *x = txn_new();
	struct key from, end;

	key_whole(&a->fleet->limiter, &from, &end);
	txn_get(x, from.s, end.s);
	ask_txn(a, x, got_all);
}
