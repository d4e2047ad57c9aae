/* SPDX-License-Identifier: ISC */
/*
 * run.c - see run.h.
 */
#include "run.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record_json.h"

#define RUN_VERSION 1

/* Engines refuse a transaction that puts a key twice; one that has failed takes no more. */
static bool
is_taken(const struct txn *x, const char *key)
{
	const struct txn_item *i;

	if (x == NULL || x->failed)
		return true;
	for (i = x->item; i < x->item + x->n; i++)
		if (i->part == x->part && i->kind == DO_PUT && strcmp(i->key, key) == 0)
			return true;
	return false;
}

/* Of two takers that end together, and have the same place, one is remembered. */
static void
put(struct txn *x, const struct key *limiter, uint64_t place, json_t *o)
{
	char self[STORE_SELF], *text;
	struct key m;

	snprintf(self, sizeof(self), "%016" PRIx64, place);
	m = key_of(limiter, 'm', self);
	json_put_number(o, "v", RUN_VERSION);
	json_put_number(o, "ended", record_now_ms());
	/* Without memory for it nothing is remembered, and the taker ends all the same. */
	if ((text = json_finished(o)) != NULL && !is_taken(x, m.s))
		txn_put(x, m.s, text, strlen(text), 0);
	free(text);
}

void
run_add(struct txn *x, const struct key *limiter, const struct run *r)
{
	const struct record *of = &r->taker.record;
	uint64_t ticket = look_ticket(&r->taker);
	json_t *o = json_object();

	json_put_number(o, "ticket", (int64_t)ticket);
	json_put_number(o, "weight", of->weight);
	json_put_number(o, "limit", of->limit);
	if (r->held) {
		json_put_number(o, "held", r->taker.created);
		json_put_number(o, "seat", of->seat);
		json_put_number(o, "since", of->since_ms);
	}
	json_put_number(o, "end", r->end);
	json_put_number(o, "code", r->code);
	json_put_number(o, "memory", (int64_t)r->memory);
	json_put_number(o, "cpu", (int64_t)r->cpu_ns);
	json_object_set_new(o, "who", json_of_person(&r->taker.person));
	if (r->end == RUN_EVICTED)
		json_object_set_new(o, "by", json_of_person(&r->by));
	put(x, limiter, ticket % RUN_PLACES, o);
}

void
run_add_order(struct txn *x, const struct key *limiter, int64_t config_mod,
	      const struct flk_settings *was, const struct flk_settings *is,
	      const struct person *by)
{
	json_t *o = json_object();

	json_put_number(o, "end", RUN_STEERED);
	json_object_set_new(o, "by", json_of_person(by));
	json_object_set_new(o, "was", json_of_config(was));
	json_object_set_new(o, "is", json_of_config(is));
	put(x, limiter, RUN_PLACES + (uint64_t)config_mod % ORDER_PLACES, o);
}

static void
read_taker(struct run *r, const json_t *o, bool *good)
{
	struct record *of = &r->taker.record;

	of->ticket = (uint64_t)json_number(o, "ticket", 1, INT64_MAX, good);
	of->weight = (uint32_t)json_number(o, "weight", 1, FLK_MAX_UNITS, good);
	of->limit = (uint32_t)json_number(o, "limit", 0, FLK_MAX_UNITS, good);
	of->seat = (uint32_t)json_number(o, "seat", 0, FLK_MAX_UNITS, good);
	of->since_ms = json_number(o, "since", 0, MOST_MS, good);
	r->taker.created = json_number(o, "held", 0, INT64_MAX, good);
	r->held = r->taker.created != 0;
	r->code = (int32_t)json_number(o, "code", INT32_MIN, INT32_MAX, good);
	r->memory = (uint64_t)json_number(o, "memory", 0, INT64_MAX, good);
	r->cpu_ns = (uint64_t)json_number(o, "cpu", 0, INT64_MAX, good);
	*good &= json_read_person(&r->taker.person, json_object_get(o, "who"));
}

bool
run_decode(struct run *r, const struct record_kv *kv)
{
	json_t *o = json_opened(kv->value, kv->value_size, RUN_VERSION);
	bool good = o != NULL;

	*r = (struct run){ .ended = kv->changed };
	r->ended_ms = json_number(o, "ended", 0, MOST_MS, &good);
	r->end = (enum run_end)json_number(o, "end", RUN_RELEASED, RUN_STEERED, &good);
	if (good && r->end >= RUN_EVICTED)
		good = json_read_person(&r->by, json_object_get(o, "by"));
	if (good && r->end == RUN_STEERED)
		good = json_read_config(&r->was, json_object_get(o, "was")) &&
		       json_read_config(&r->is, json_object_get(o, "is"));
	else if (good)
		read_taker(r, o, &good);
	json_decref(o);
	return good;
}
