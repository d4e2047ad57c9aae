/* SPDX-License-Identifier: ISC */
/*
 * taker.c - what is common to all states of a taker.  It calls the files that have what one state
 * does only through the table of states.c.  See taker.h.
 */
#include "taker.h"

#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "records/retry.h"

/* ---- what an answer says of the store ---- */

/* A failure that no state can fix; a taker that holds, or gives its permit back, keeps retrying. */
static bool
is_hopeless(const struct fleet_taker *t, const struct records_answer *a)
{
	return (a->result == RECORDS_DENIED || a->result == RECORDS_WRONG) && t->state < HOLDING &&
	       !t->held;
}

bool
taker_heard(struct fleet_taker *t, const struct records_answer *a)
{
	bool away =
	    a->result == RECORDS_AWAY || a->result == RECORDS_DENIED || a->result == RECORDS_WRONG;

	if (t->freed || t->state == IDLE)
		return false;
	if (is_hopeless(t, a)) {
		taker_refuse(t, -FLK_STORE, a->text);
		return false;
	}
	if (away == t->away)
		return true;
	t->away = away;
	taker_report(
	    t, &(struct fleet_event){ .kind = away ? FLEET_AWAY : FLEET_BACK, .text = a->text });
	return !t->freed && t->state != IDLE;
}

/* ---- calls ---- */

/* One that was not answered in time halves what is asked at once, and each answer adds one. */
static void
count_answer(struct fleet_store *store, bool away)
{
	store->calls--;
	if (away)
		store->most_calls = (store->most_calls + 1) / 2;
	else if (store->most_calls < fleet_calls)
		store->most_calls++;
}

/* A failed call about a suspect is not ours. */
static void
answered(void *context, const struct records_answer *a)
{
	struct taker_call *slot = context;
	struct fleet_taker *t = slot->taker;
	bool is_main = slot == &t->slot[MAIN];

	slot->call = NULL;
	count_answer(t->fleet->store, a->result == RECORDS_AWAY);
	if (is_main && is_hopeless(t, a)) {
		taker_heard(t, a);
		return;
	}
	if (is_main && a->result != RECORDS_AWAY)
		t->failures = 0;
	slot->answer(t, a);
	if (is_main)
		taker_heard(t, a);
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

/* c: NULL, if nothing was tried. */
static void
begun(struct fleet_taker *t, enum taker_slot slot, const struct taker_call *c)
{
	if (c != NULL && c->call != NULL)
		t->fleet->store->calls++;
	if (t->slot[slot].call == NULL && slot == MAIN && !t->freed)
		taker_again(t);
}

void
taker_txn(struct fleet_taker *t, enum taker_slot slot, struct txn *x, taker_answer *answer)
{
	struct taker_call *c = begin(t, slot, answer);

	if (c != NULL)
		c->call = records_txn(t->fleet->store->records, x, t->fleet->store->timeout_ms,
				      answered, c);
	else
		txn_free(x);
	begun(t, slot, c);
}

void
taker_lease(struct fleet_taker *t, enum taker_slot slot, int64_t lease, uint32_t ttl_s,
	    taker_answer *answer)
{
	struct taker_call *c = begin(t, slot, answer);

	if (c != NULL)
		c->call = records_lease(t->fleet->store->records, lease, ttl_s,
					t->fleet->store->timeout_ms, answered, c);
	begun(t, slot, c);
}

bool
taker_is_fenced(struct fleet_taker *t)
{
	if (t->claim_lease != 0 && !life_fence(&t->fleet->life, t->claim_lease))
		return false;
	t->claim_lease = 0;
	return true;
}

void
taker_hush(struct fleet_taker *t, enum taker_slot slot)
{
	if (t->slot[slot].call == NULL)
		return;
	records_cancel(t->slot[slot].call);
	t->slot[slot].call = NULL;
	t->fleet->store->calls--;
}

/* ---- states ---- */

/* All that its state does is a call of its own, which may wait. */
static bool
may_queue(const struct fleet_taker *t)
{
	return t->slot[MAIN].call == NULL && !t->held &&
	       (t->state == ASKING || t->state == CLAIMING || t->state == RECONCILE ||
		t->state == LOOKING);
}

void
taker_act(struct fleet_taker *t)
{
	struct fleet_store *store = t->fleet->store;

	if (t->freed)
		return;
	if (store->calls < store->most_calls || !may_queue(t)) {
		taker_deeds.row[t->state].act(t);
	} else if (!t->queues) {
		TAILQ_INSERT_TAIL(&store->queue, t, turn);
		t->queues = true;
	}
}

void
taker_unqueue(struct fleet_taker *t)
{
	if (t->queues)
		TAILQ_REMOVE(&t->fleet->store->queue, t, turn);
	t->queues = false;
}

static bool
is_quiet(const struct fleet_taker *t)
{
	int i;

	for (i = 0; i < SLOTS; i++)
		if (t->slot[i].call != NULL)
			return false;
	for (i = 0; i < WATCHES; i++)
		if (t->watching[i].watch != NULL)
			return false;
	return true;
}

/* What must hold in a state when it begins, as far as it is ours to see to it, not the store's. */
static bool
is_sound(const struct fleet_taker *t)
{
	switch (t->state) {
	case IDLE:
		return is_quiet(t);
	case ASKING:
	case MARKING:
	case CLAIMING:
		return t->created == 0;
	case FENCING:
		return t->claim_lease != 0;
	case BEHIND:
	case FIRST:
		return t->created != 0;
	case HOLDING:
	case LOSING:
		return t->claim_lease == 0 && t->slot[DEAD].call == NULL;
	default:
		return true;
	}
}

void
taker_move(struct fleet_taker *t, enum taker_state state)
{
	const struct taker_row *from = &taker_deeds.row[t->state];

	t->state = state;
	if (state != BEHIND && state != FIRST)
		t->look_ns = t->suspects.due_ns = UINT64_MAX;
	state_check(&from->rule, &taker_deeds.row[state].rule, is_sound(t));
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
taker_stop(struct fleet_taker *t)
{
	taker_hush(t, MAIN);
	taker_hush(t, DEAD);
	watching_end_all(t);
	taker_move(t, IDLE);
	t->retry_ns = UINT64_MAX;
	fleet_rest(t->fleet);
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

/* ---- what is written ---- */

struct key
taker_key(const struct fleet_taker *t, char kind)
{
	return key_of(&t->fleet->limiter, kind, t->self);
}

struct record
taker_record(const struct fleet_taker *t)
{
	struct record r = { .weight = t->want.weight,
			    .limit = t->want.limit,
			    .under = t->want.fallback,
			    .ttl_s = t->fleet->store->ttl_s,
			    .grace_s = t->fleet->store->grace_s,
			    .manual = t->fleet->store->manual,
			    .since_ms = record_now_ms() };
	struct person p = taker_person(t);

	memcpy(r.life, t->fleet->life.name, STORE_SELF);
	r.key = turns_key(t->look.config.fair, &t->want, p.host);
	r.share = p.share;
	return r;
}

void
taker_tally(struct fleet_taker *t, const struct records_answer *a)
{
	free(t->tally);
	t->tally = a != NULL ? malloc(sizeof(*t->tally)) : NULL;
	if (t->tally != NULL) /* without memory for it, nothing is counted */
		*t->tally = tally_found(&t->fleet->limiter, a);
}

struct person
taker_person(const struct fleet_taker *t)
{
	struct person p = { .pid = (uint32_t)t->want.pid,
			    .uid = (uint32_t)t->want.uid,
			    .came_ms = t->came_ms,
			    .role = t->want.role };

	memcpy(p.host, t->fleet->store->host, sizeof(p.host));
	memcpy(p.command, t->want.command, sizeof(p.command));
	p.command[sizeof(p.command) - 1] = '\0';
	turns_key_text(t->look.config.fair, &t->want, p.host, p.key);
	p.share = p.key[0] == '\0' ? 0 : t->want.share != 0 ? t->want.share : 1;
	return p;
}
