/* SPDX-License-Identifier: ISC */
/*
 * taker.c - what is common to all states of a taker.  It calls the files that have what one state
 * does only through the table of states.c.  See taker.h.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

#include "engine/retry.h"
#include "kind.h"

/* ---- calls ---- */

/* A failure that no state can fix; a taker that holds, or gives its permit back, keeps retrying. */
static bool
is_hopeless(const struct engine_taker *t, const struct etcd_reply *reply)
{
	return (reply->result == ETCD_DENIED || reply->result == ETCD_WRONG) &&
	       t->state < HOLDING && !t->held;
}

static void
refuse_hopeless(struct engine_taker *t, const struct etcd_reply *reply)
{
	taker_refuse(t, -FLK_STORE, reply->text);
}

/* Report failures of the taker's own calls only; a failed call about a suspect is not ours. */
static void
report_store(struct engine_taker *t, const struct etcd_reply *reply)
{
	bool away = reply->result == ETCD_AWAY || reply->result == ETCD_DENIED ||
		    reply->result == ETCD_WRONG;

	if (t->freed || t->state == IDLE || away == t->away)
		return;
	t->away = away;
	taker_report(t, &(struct engine_event){ .kind = away ? ENGINE_AWAY : ENGINE_BACK,
						.text = reply->text });
}

static void
answered(void *context, const struct etcd_reply *reply)
{
	struct taker_call *slot = context;
	struct engine_taker *t = slot->taker;
	bool dead = slot == &t->slot[DEAD];

	slot->call = NULL;
	if (!dead && is_hopeless(t, reply)) {
		refuse_hopeless(t, reply);
		return;
	}
	if (slot == &t->slot[MAIN] && reply->result != ETCD_AWAY)
		t->failures = 0;
	slot->answer(t, reply);
	if (!dead)
		report_store(t, reply);
}

bool
taker_call(struct engine_taker *t, enum taker_slot slot, const char *path, json_t *body,
	   taker_answer *answer)
{
	struct taker_call *c = &t->slot[slot];

	if (t->freed || c->call != NULL || body == NULL) {
		json_decref(body);
		return c->call != NULL;
	}
	c->taker = t;
	c->answer = answer;
	c->call = etcd_call(t->e->etcd, path, body, t->e->timeout_ms, answered, c);
	if (c->call == NULL && slot == MAIN)
		taker_again(t);
	return c->call != NULL;
}

bool
taker_txn(struct engine_taker *t, enum taker_slot slot, json_t *compares, json_t *then,
	  json_t *otherwise, taker_answer *answer)
{
	return taker_call(t, slot, "/v3/kv/txn", etcd_txn(compares, then, otherwise), answer);
}

void
taker_hush(struct engine_taker *t, enum taker_slot slot)
{
	if (t->slot[slot].call != NULL)
		etcd_cancel(t->slot[slot].call);
	t->slot[slot].call = NULL;
}

void
taker_hush_all(struct engine_taker *t)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		taker_hush(t, (enum taker_slot)i);
}

/* ---- states ---- */

void
taker_act(struct engine_taker *t)
{
	if (!t->freed)
		t->deeds->row[t->state].act(t);
}

static bool
is_under_way(const struct engine_taker *t, enum taker_slot from)
{
	int i;

	for (i = (int)from; i < SLOTS; i++)
		if (t->slot[i].call != NULL)
			return true;
	return false;
}

/* What must hold in a state when it begins, as far as it is ours to see to it, not the store's. */
static bool
is_sound(const struct engine_taker *t)
{
	switch (t->state) {
	case IDLE:
		return !is_under_way(t, MAIN) && t->watch == NULL && t->lease == 0;
	case ASKING:
	case MARKING:
	case CLAIMING:
		return t->created == 0;
	case FENCING:
		return t->open_claim;
	case BEHIND:
		return t->before[0] != '\0';
	case HOLDING:
	case ATTACHING:
	case LOSING:
		return !t->open_claim && t->slot[DEAD].call == NULL;
	case LEAVING:
	case RELEASING:
		return !is_under_way(t, LEASE) && t->watch == NULL;
	default:
		return true;
	}
}

void
taker_move(struct engine_taker *t, enum taker_state state)
{
	const struct taker_row *from = &t->deeds->row[t->state];

	t->state = state;
	state_check(&from->rule, &t->deeds->row[state].rule, is_sound(t));
}

void
taker_go(struct engine_taker *t, enum taker_state state)
{
	taker_hush(t, MAIN);
	taker_move(t, state);
	t->retry_ns = UINT64_MAX;
	taker_act(t);
}

void
taker_again(struct engine_taker *t)
{
	t->retry_ns = flki_boottime_ns() + retry_pause(t->failures++);
}

/* ---- events, and the end ---- */

void
taker_report(struct engine_taker *t, const struct engine_event *event)
{
	if (!t->freed)
		t->report(t->context, event);
}

void
taker_note(struct engine_taker *t, const char *text)
{
	taker_report(t, &(struct engine_event){ .kind = ENGINE_NOTE, .text = text });
}

void
taker_unwatch(struct engine_taker *t)
{
	if (t->watch != NULL)
		etcd_unwatch(t->watch);
	t->watch = NULL;
	t->watching = WATCH_NONE;
}

void
taker_drop_lease(struct engine_taker *t)
{
	taker_hush(t, LEASE);
	taker_hush(t, BEAT);
	taker_hush(t, CHECK);
	engine_revoke(t->e, t->lease);
	t->lease = 0;
	t->leased = false;
	t->beat_ns = UINT64_MAX;
}

void
taker_stop(struct engine_taker *t)
{
	taker_hush_all(t);
	taker_unwatch(t);
	taker_drop_lease(t);
	taker_move(t, IDLE);
	t->retry_ns = t->beat_ns = UINT64_MAX;
}

void
taker_end(struct engine_taker *t, const struct engine_event *event)
{
	taker_stop(t);
	taker_report(t, event);
}

void
taker_refuse(struct engine_taker *t, int code, const char *text)
{
	taker_end(t, &(struct engine_event){ .kind = ENGINE_REFUSED, .code = code, .text = text });
}

/* ---- the rule ---- */

uint32_t
taker_limit(const struct engine_taker *t, const struct flk_settings *c)
{
	if (t->want.limit != 0)
		return t->want.limit;
	if (c->declared != 0)
		return c->declared;
	return t->want.fallback != 0 ? t->want.fallback : 1;
}

bool
taker_fits(struct engine_taker *t)
{
	struct view *v = look_view(&t->look);
	bool fits =
	    v != NULL && view_fits(v, t->want.weight, taker_limit(t, &t->look.config), &t->under);

	if (fits)
		t->seat = view_seat(v);
	free(v);
	return fits;
}

/* ---- what is written ---- */

struct key
taker_key(const struct engine_taker *t, char kind)
{
	return key_of(&t->e->limiter, kind, t->self);
}

bool
taker_is_fresh(const struct engine_taker *t)
{
	return t->leased && flki_boottime_ns() - t->alive_ns <= t->e->ttl_s * SECOND / 2;
}

char *
taker_record(const struct engine_taker *t, bool holds)
{
	struct record r = { .weight = t->want.weight,
			    .limit = holds ? taker_limit(t, &t->look.config) : t->want.limit,
			    .under = t->under,
			    .seat = t->seat,
			    .ticket = (uint64_t)t->created,
			    .pid = (uint32_t)t->want.pid,
			    .uid = (uint32_t)t->want.uid,
			    .ttl_s = t->e->ttl_s,
			    .grace_s = t->e->grace_s,
			    .manual = t->e->manual,
			    .since_ms = record_now_ms(),
			    .role = t->want.role };

	memcpy(r.host, t->e->host, sizeof(r.host));
	memcpy(r.command, t->want.command, sizeof(r.command));
	r.command[sizeof(r.command) - 1] = '\0';
	return record_encode(&r, holds);
}

bool
taker_grant_ops(struct engine_taker *t, json_t *ops)
{
	struct flk_settings c = t->look.config;
	struct key h = taker_key(t, 'h'), l = taker_key(t, 'l');
	char *record = taker_record(t, true), *config = NULL;
	bool good = record != NULL;

	c.declared = taker_limit(t, &c);
	if (c.declared != t->look.config.declared && (config = config_encode(&c, NULL)) == NULL)
		good = false;
	t->first = t->want.limit == 0 && t->look.config.declared == 0;
	if (good) {
		json_array_append_new(ops, etcd_put(h.s, record, 0));
		json_array_append_new(ops, etcd_put(l.s, "", t->lease));
		if (config != NULL)
			json_array_append_new(ops, etcd_put(t->e->limiter.s, config, 0));
	}
	free(record);
	free(config);
	return good;
}
