/* SPDX-License-Identifier: ISC */
/*
 * help.c - what the cases share: see suite.h.
 */
#include "suite.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "../../helpers/tap.h"
#include "clock.h"

#define PATIENCE (60 * SECOND)
#define CALL_MS  5000

const struct ground *ground;

struct records *
store_open(void)
{
	static struct url url;
	char why[RECORDS_TEXT] = "";
	const char *wrong = url_parse(&url, ground->url);
	struct records *r;

	if (wrong != NULL || records_open(&r, &url, 500, why) != 0)
		tap_bail("%s: %s", ground->url, wrong != NULL ? wrong : why);
	return r;
}

void
sleep_really(struct records *r, uint64_t until_ns)
{
	struct pollfd p = { .fd = records_fd(r), .events = POLLIN };
	uint64_t now = flki_boottime_ns(), due = records_due(r);

	due = due < until_ns ? due : until_ns;
	poll(&p, 1, due <= now ? 0 : (int)((due - now) / MS) + 1);
}

bool
until(struct records *r, const int *happened, int times)
{
	uint64_t end = flki_boottime_ns() + PATIENCE;

	while (*happened < times && flki_boottime_ns() < end) {
		ground->sleep(r, end);
		records_step(r);
	}
	return *happened >= times;
}

void
run_for(struct records *r, uint64_t ns)
{
	uint64_t end = flki_boottime_ns() + ns;

	while (flki_boottime_ns() < end) {
		ground->sleep(r, end);
		records_step(r);
	}
}

static uint64_t
some(void)
{
	uint64_t bits;

	while (getrandom(&bits, sizeof(bits), 0) != sizeof(bits))
		;
	return bits;
}

const char *
key(const char *name)
{
	static char ring[16][128];
	static unsigned at;
	static uint64_t run;

	if (run == 0)
		run = some() | 1;
	at = (at + 1) % 16;
	snprintf(ring[at], sizeof(ring[at]), "/suite/%016llx/%s", (unsigned long long)run, name);
	return ring[at];
}

int64_t
new_lease(void)
{
	return (int64_t)(some() >> 1 | 1);
}

/* ---- answers ---- */

static void
remember_found(struct outcome *o, size_t i, const struct records_found *f)
{
	size_t j;

	o->found[i] = *f;
	o->found[i].kv = o->kv[i];
	for (j = 0; j < f->n && j < 8; j++) {
		o->kv[i][j] = f->kv[j];
		snprintf(o->name[i][j], sizeof(o->name[i][j]), "%s", f->kv[j].key);
		memcpy(o->text[i][j], f->kv[j].value,
		       f->kv[j].value_size < 63 ? f->kv[j].value_size + 1 : 63);
		o->kv[i][j].key = o->name[i][j];
		o->kv[i][j].value = o->text[i][j];
	}
}

void
remember(void *context, const struct records_answer *answer)
{
	struct outcome *o = context;
	size_t i;

	o->times++;
	o->a = *answer;
	for (i = 0; i < answer->n && i < 8; i++)
		remember_found(o, i, &answer->found[i]);
	o->a.found = o->found;
	if (answer->result != RECORDS_OK)
		tap_note("%s", answer->text != NULL ? answer->text : "no text");
}

static struct outcome last;

static const struct outcome *
answered(struct records *r, const struct records_call *call)
{
	if (call == NULL || !until(r, &last.times, 1))
		tap_bail("a call was never answered");
	if (last.a.result == RECORDS_AWAY)
		tap_bail("%s is out of reach", ground->url);
	return &last;
}

static struct outcome *
fresh(void)
{
	memset(&last, 0, sizeof(last));
	return &last;
}

const struct outcome *
did(struct records *r, struct txn *x)
{
	return answered(r, records_txn(r, x, CALL_MS, remember, fresh()));
}

const struct outcome *
leased(struct records *r, int64_t id, uint32_t ttl_s)
{
	return answered(r, records_lease(r, id, ttl_s, CALL_MS, remember, fresh()));
}

const struct outcome *
renewed(struct records *r, int64_t id)
{
	return answered(r, records_renew(r, id, CALL_MS, remember, fresh()));
}

const struct outcome *
ended(struct records *r, int64_t id)
{
	return answered(r, records_end(r, id, CALL_MS, remember, fresh()));
}

int64_t
put(struct records *r, const char *k, const char *value, int64_t lease)
{
	struct txn *x = txn_new();

	txn_put(x, k, value, strlen(value), lease);
	return did(r, x)->a.revision;
}

bool
is_there(struct records *r, const char *k)
{
	struct txn *x = txn_new();

	txn_get(x, k, NULL);
	return did(r, x)->a.found[0].n == 1;
}

/* ---- watches ---- */

void
hear(void *context, const struct records_news *news)
{
	const struct records_change *c = news->change;
	struct heard *h = context;
	size_t n = strlen(h->text);

	h->begun += news->kind == WATCH_BEGUN;
	h->compacted += news->kind == WATCH_COMPACTED;
	h->failed += news->kind == WATCH_FAILED;
	if (news->kind == WATCH_BEGUN)
		h->revision = news->revision;
	if (news->kind != WATCH_CHANGE)
		return;
	h->changes++;
	h->last = c->kv.changed;
	snprintf(h->text + n, sizeof(h->text) - n, "%c%s%s%s ", c->deleted ? '-' : '+',
		 strrchr(c->kv.key, '/') + 1, c->deleted ? "" : "=", c->deleted ? "" : c->kv.value);
	if (h->end != NULL) {
		records_unwatch(h->end);
		h->end = NULL;
	}
}
