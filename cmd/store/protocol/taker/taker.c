/* SPDX-License-Identifier: ISC */
/*
 * taker.c - what is common to all states of a taker.  It calls the files that have what one state
 * does only through the table of states.c.  See taker.h.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

#include "records/retry.h"
#include "kind.h"

/* ---- calls ---- */

/* A failure that no state can fix; a taker that holds, or gives its permit back, keeps retrying. */
static bool
is_hopeless(const struct fleet_taker *t, const struct records_answer *reply)
{
	return (reply->result == RECORDS_DENIED || reply->result == RECORDS_WRONG) &&
	       t->state < HOLDING && !t->held;
}

static void
refuse_hopeless(struct fleet_taker *t, const struct records_answer *reply)
{
	taker_refuse(t, -FLK_STORE, reply->text);
}

/* Report failures of the taker's own calls only; a failed call about a suspect is not ours. */
static void
report_store(struct fleet_taker *t, const struct records_answer *reply)
{
	bool away = reply->result == RECORDS_AWAY || reply->result == RECORDS_DENIED ||
		    reply->result == RECORDS_WRONG;

	if (t->freed || t->state == IDLE || away == t->away)
		return;
	t->away = away;
	taker_report(t, &(struct fleet_event){ .kind = away ? FLEET_AWAY : FLEET_BACK,
					       .text = reply->text });
}

static void
answered(void *context, const struct records_answer *reply)
{
	struct taker_call *slot = context;
	struct fleet_taker *t = slot->taker;
	bool dead = slot == &t->slot[DEAD];

	slot->call = NULL;
	if (!dead && is_hopeless(t, reply)) {
		refuse_hopeless(t, reply);
		return;
	}
	if (slot == &t->slot[MAIN] && reply->result != RECORDS_AWAY)
		t->failures = 0;
	slot->answer(t, reply);
	if (!dead)
		report_store(t, reply);
}

/* The slot for a new call; NULL: there is one under way, or the taker sends nothing any more. */
static struct taker_call *
begin(struct fleet_taker *t, enum taker_slot slot, taker_answer *answer)
{
	struct taker_call *c = &t->slot[slot];

	if (t->freed || c->call != NULL)
		return NULL;
	c->taker = t;
	c->answer = answer;
	return c;
}

static bool
begun(struct fleet_taker *t, enum taker_slot slot)
{
	if (t->slot[slot].call == NULL && slot == MAIN && !t->freed)
		taker_again(t);
	return t->slot[slot].call != NULL;
}

bool
taker_txn(struct fleet_taker *t, enum taker_slot slot, struct txn *x, taker_answer *answer)
{
	struct taker_call *c = begin(t, slot, answer);

	if (c != NULL)
		c->call = records_txn(t->fleet->records, x, t->fleet->timeout_ms, answered, c);
	else
		txn_free(x);
	return begun(t, slot);
}

bool
taker_lease(struct fleet_taker *t, enum taker_slot slot, int64_t lease, uint32_t ttl_s,
	    taker_answer *answer)
{
	struct taker_call *c = begin(t, slot, answer);

	if (c != NULL)
		c->call = records_lease(t->fleet->records, lease, ttl_s, t->fleet->timeout_ms,
					answered, c);
	return begun(t, slot);
}

bool
taker_on_lease(struct fleet_taker *t, enum taker_slot slot, taker_lease_call *does,
	       taker_answer *answer)
{
	struct taker_call *c = begin(t, slot, answer);

	if (c != NULL)
		c->call = does(t->fleet->records, t->lease, t->fleet->timeout_ms, answered, c);
	return begun(t, slot);
}

bool
taker_fenced(struct fleet_taker *t, const struct records_answer *reply)
{
	if (reply->result != RECORDS_OK && reply->result != RECORDS_NOLEASE) {
		taker_again(t);
		return false;
	}
	t->open_claim = false;
	return true;
}

void
taker_hush(struct fleet_taker *t, enum taker_slot slot)
{
	if (t->slot[slot].call != NULL)
		records_cancel(t->slot[slot].call);
	t->slot[slot].call = NULL;
}

void
taker_hush_all(struct fleet_taker *t)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		taker_hush(t, (enum taker_slot)i);
}

/* ---- states ---- */

void
taker_act(struct fleet_taker *t)
{
	if (!t->freed)
		t->deeds->row[t->state].act(t);
}

static bool
is_under_way(const struct fleet_taker *t, enum taker_slot from)
{
	int i;

	for (i = (int)from; i < SLOTS; i++)
		if (t->slot[i].call != NULL)
			return true;
	return false;
}

/* What must hold in a state when it begins, as far as it is ours to see to it, not the store's. */
static bool
is_sound(const struct fleet_taker *t)
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
taker_move(struct fleet_taker *t, enum taker_state state)
{
	const struct taker_row *from = &t->deeds->row[t->state];

	t->state = state;
	state_check(&from->rule, &t->deeds->row[state].rule, is_sound(t));
}

void
taker_go(struct fleet_taker *t, enum taker_state state)
{
	taker_hush(t, MAIN);
	taker_move(t, state);
	t->retry_ns = UINT64_MAX;
	taker_act(t);
}

void
taker_again(struct fleet_taker *t)
{
	t->retry_ns = flki_boottime_ns() + retry_pause(t->failures++);
}

/* ---- events, and the end ---- */

void
taker_report(struct fleet_taker *t, const struct fleet_event *event)
{
	if (!t->freed)
		t->report(t->context, event);
}

void
taker_note(struct fleet_taker *t, const char *text)
{
	taker_report(t, &(struct fleet_event){ .kind = FLEET_NOTE, .text = text });
}

void
taker_unwatch(struct fleet_taker *t)
{
	if (t->watch != NULL)
		records_unwatch(t->watch);
	t->watch = NULL;
	t->watching = WATCH_NONE;
}

void
taker_drop_lease(struct fleet_taker *t)
{
	taker_hush(t, LEASE);
	taker_hush(t, BEAT);
	taker_hush(t, CHECK);
	fleet_revoke(t->fleet, t->lease);
	t->lease = 0;
	t->leased = false;
	t->beat_ns = UINT64_MAX;
}

void
taker_stop(struct fleet_taker *t)
{
	taker_hush_all(t);
	taker_unwatch(t);
	taker_drop_lease(t);
	taker_move(t, IDLE);
	t->retry_ns = t->beat_ns = UINT64_MAX;
}

void
taker_end(struct fleet_taker *t, const struct fleet_event *event)
{
	taker_stop(t);
	taker_report(t, event);
}

void
taker_refuse(struct fleet_taker *t, int code, const char *text)
{
	taker_end(t, &(struct fleet_event){ .kind = FLEET_REFUSED, .code = code, .text = text });
}

/* ---- the rule ---- */

uint32_t
taker_limit(const struct fleet_taker *t, const struct flk_settings *c)
{
	if (t->want.limit != 0)
		return t->want.limit;
	if (c->declared != 0)
		return c->declared;
	return t->want.fallback != 0 ? t->want.fallback : 1;
}

bool
taker_fits(struct fleet_taker *t)
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
taker_key(const struct fleet_taker *t, char kind)
{
	return key_of(&t->fleet->limiter, kind, t->self);
}

bool
taker_is_fresh(const struct fleet_taker *t)
{
	return t->leased && flki_boottime_ns() - t->alive_ns <= t->fleet->ttl_s * SECOND / 2;
}

char *
taker_record(const struct fleet_taker *t, bool holds)
{
	struct record r = { .weight = t->want.weight,
			    .limit = holds ? taker_limit(t, &t->look.config) : t->want.limit,
			    .under = t->under,
			    .seat = t->seat,
			    .ticket = (uint64_t)t->created,
			    .pid = (uint32_t)t->want.pid,
			    .uid = (uint32_t)t->want.uid,
			    .ttl_s = t->fleet->ttl_s,
			    .grace_s = t->fleet->grace_s,
			    .manual = t->fleet->manual,
			    .since_ms = record_now_ms(),
			    .role = t->want.role };

	memcpy(r.host, t->fleet->host, sizeof(r.host));
	memcpy(r.command, t->want.command, sizeof(r.command));
	r.command[sizeof(r.command) - 1] = '\0';
	return record_encode(&r, holds);
}

bool
taker_add_grant(struct fleet_taker *t, struct txn *x)
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
		txn_put(x, h.s, record, strlen(record), 0);
		txn_put(x, l.s, "", 0, t->lease);
		if (config != NULL)
			txn_put(x, t->fleet->limiter.s, config, strlen(config), 0);
	}
	free(record);
	free(config);
	return good;
}
