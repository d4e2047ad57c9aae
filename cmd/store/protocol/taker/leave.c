/* SPDX-License-Identifier: ISC */
/*
 * leave.c - giving up whatever the taker has: a place, a permit, or a claim that got no answer; and
 * granting what others may have now: see round.h.
 *
 * A release asks whether anybody waits, and is done if nobody does.  Otherwise the answer is the look by
 * which it plans a round.  Of a taker that has waited itself, it looks first: others are likely to wait, and
 * a look needs no disk.
 *
 * The taker's keys belong to no other taker, and no taker uses them again: so their deletion may come
 * late and twice.  What is remembered of a permit may not, and so it is put only where that permit ends.
 */
#include "taker.h"

#include <string.h>

#include "kind.h"
#include "protocol/batch.h"
#include "protocol/run.h"

static void
end(struct fleet_taker *t)
{
	seen_ended(t);
	taker_end(t, &(struct fleet_event){ .kind = t->ending,
					    .code = t->ending_code,
					    .ticket = t->ticket,
					    .text = t->ending_code == -FLK_STORE ? t->look.trouble
										 : NULL });
}

/* ---- what is remembered ---- */

static struct run
run_of(const struct fleet_taker *t, bool held)
{
	struct run r = { .taker = { .record = t->permit,
				    .person = taker_person(t),
				    .created = t->held_since },
			 .held = held,
			 .end = held ? RUN_RELEASED : RUN_LEFT,
			 .code = held ? t->status : t->ending_code,
			 .memory = t->memory,
			 .cpu_ns = t->cpu_ns };

	if (!held)
		r.taker.record = taker_record(t);
	r.taker.record.ticket = t->ticket;
	return r;
}

/*
 * Every other try is without it: a store that is full refuses what is put, and must not keep the permit for
 * that.
 */
static bool
is_remembered(const struct fleet_taker *t)
{
	return t->failures % 2 == 0;
}

/* Right after its keys go, for those that follow.  A place that goes twice is remembered by the later time. */
static void
add_place_run(const struct fleet_taker *t, struct txn *x)
{
	struct run r = run_of(t, false);

	if (t->state == LEAVING && t->created != 0 && is_remembered(t))
		run_add(x, &t->fleet->limiter, &r);
}

/* Where if_held() does: so it is counted once. */
static void
add_permit_run(const struct fleet_taker *t, struct txn *x)
{
	const struct record *p = &t->permit;
	struct run r = run_of(t, true);
	struct tally tally;

	if (t->held_since == 0 || !is_remembered(t))
		return;
	run_add(x, &t->fleet->limiter, &r);
	if (t->tally == NULL)
		return;
	tally = *t->tally;
	tally_count(&tally, t->created != 0 ? t->came_ms : p->since_ms, p->since_ms,
		    record_now_ms());
	tally_put(x, &t->fleet->limiter, p->seat, &tally);
}

/*
 * Before what is read with it, and where if_held() does.  A ramp begins anew by the time without a permit.
 */
static void
add_rest(const struct fleet_taker *t, struct txn *x)
{
	if (t->held_since != 0 && t->looked && is_remembered(t))
		starts_put_rest(&t->look.config.pace, &t->look.starts, x, &t->fleet->limiter);
}

/* What is done then ends its permit: so nobody else has its seat. */
static void
if_held(const struct fleet_taker *t, struct txn *x)
{
	struct key h = taker_key(t, 'h');

	if (t->held_since != 0)
		txn_if_created(x, h.s, t->held_since);
}

/* ---- what goes ---- */

/* What a repairer wrote of its life would be left behind. */
static void
add_deletions(const struct fleet_taker *t, struct txn *x)
{
	static const char kinds[] = { 'h', 'w', 'p' };
	size_t i;

	for (i = 0; i < sizeof(kinds); i++) {
		struct key k = taker_key(t, kinds[i]);
		txn_delete(x, k.s, NULL);
	}
	life_add_unmark(&t->fleet->limiter, t->fleet->life.name, x);
}

/* ---- what there may be ---- */

static void
learned(struct fleet_taker *t, const struct records_answer *a)
{
	struct records_found w = records_found(a, 0), h = records_found(a, 1);

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	if (w.n > 0) {
		t->created = w.kv[0].created;
		t->ticket = (uint64_t)t->created;
	}
	if (h.n > 0 && record_decode(&t->permit, h.kv[0].value, h.kv[0].value_size)) {
		t->held_since = h.kv[0].created;
		t->created = (int64_t)t->permit.ticket;
		t->ticket = t->created != 0 ? t->permit.ticket : (uint64_t)t->held_since;
	}
	t->unread = false;
	taker_act(t);
}

static void
learn(struct fleet_taker *t)
{
	struct key w = taker_key(t, 'w'), h = taker_key(t, 'h');
	struct txn *x = txn_new();

	txn_get(x, w.s, NULL)->keys_only = true;
	txn_get(x, h.s, NULL);
	taker_txn(t, MAIN, x, learned);
}

/* ---- without a round ---- */

/* Its keys are gone, whatever was read with that. */
static void
departed(struct fleet_taker *t, const struct records_answer *a)
{
	struct look look;

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	look_init(&look, &t->fleet->limiter);
	if (t->blind)
		round_run(t->fleet, NULL);
	else if (look_read(&look, LOOK_LINE, a))
		round_run(t->fleet, &look);
	look_free(&look);
	end(t);
}

static void
add_departure(const struct fleet_taker *t, struct txn *x)
{
	add_deletions(t, x);
	add_place_run(t, x);
	round_ring(x, &t->fleet->limiter);
	if (!t->blind)
		look_add(x, &t->fleet->limiter, LOOK_LINE);
}

static void
depart(struct fleet_taker *t)
{
	struct key tail = key_tail(&t->fleet->limiter);
	struct txn *x = txn_new();

	t->blind = t->fleet->batch != 0;
	if (t->state == RELEASING && t->held_since != 0) {
		if_held(t, x);
		add_rest(t, x);
		add_departure(t, x);
		add_permit_run(t, x);
		txn_otherwise(x);
	} else if (t->state == LEAVING && t->created != 0) {
		/* If this taker was the last to enter the line, nobody stands behind it. */
		txn_if_changed(x, tail.s, t->created);
		txn_delete(x, tail.s, NULL);
		add_departure(t, x);
		txn_otherwise(x);
	}
	add_departure(t, x);
	taker_txn(t, MAIN, x, departed);
}

/* ---- with one ---- */

static void
passed_on(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	if (!a->held) {
		depart(t);
		return;
	}
	seen_is_old(t->fleet, a->revision);
	if (round_goes_on(&t->gives_end, a))
		round_run(t->fleet, NULL);
	end(t);
}

/* If the round does not hold, the taker departs all the same. */
static void
pass_on(struct fleet_taker *t, const struct round *r)
{
	struct txn *x = txn_new();

	t->gives_end = r->end;
	round_add_compares(r, x);
	if_held(t, x);
	add_deletions(t, x);
	add_permit_run(t, x);
	add_rest(t, x);
	round_add_grants(r, x);
	taker_txn(t, MAIN, x, passed_on);
}

static void
asked(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
	} else if (a->held) {
		end(t);
	} else {
		t->looked = look_read(&t->look, LOOK_LINE, a);
		if (!t->looked) /* what makes no sense keeps nobody from leaving */
			depart(t);
		else
			taker_act(t);
	}
}

/* If nobody waits, and no ramp has to know, that is all. */
static void
ask(struct fleet_taker *t)
{
	struct key w = key_of(&t->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct key rest = key_at_rest(&t->fleet->limiter);
	struct txn *x = txn_new();

	look_line(&t->look);
	txn_if_absent(x, w.s, end.s);
	txn_if_changed(x, rest.s, 0);
	if_held(t, x);
	add_deletions(t, x);
	add_permit_run(t, x);
	round_add_silence(x, &t->fleet->limiter);
	txn_otherwise(x);
	look_add(x, &t->fleet->limiter, LOOK_LINE);
	taker_txn(t, MAIN, x, asked);
}

static void
read_line(struct fleet_taker *t, const struct records_answer *a)
{
	bool is_spent;

	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	t->looked = batch_look_read(&t->look, a, &is_spent);
	if (t->looked && is_spent) {
		t->looked = false;
		taker_txn(t, MAIN, look_txn(&t->fleet->limiter, LOOK_LONG), read_line);
		return;
	}
	if (t->looked)
		fleet_saw(t->fleet, &t->look);
	t->looked &= t->look.waiters > 0 || t->look.config.pace.ramp_from != 0;
	if (t->looked)
		taker_act(t);
	else
		ask(t);
}

static void
read_tally_and_line(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result == RECORDS_OK)
		taker_tally(t, a);
	read_line(t, a);
}

static void
read_tally_and_batch(struct fleet_taker *t, const struct records_answer *a)
{
	if (a->result != RECORDS_OK) {
		taker_again(t);
		return;
	}
	taker_tally(t, a);
	taker_txn(t, MAIN, batch_look_txn(&t->look, a, t->fleet->batch), read_line);
}

static void
look(struct fleet_taker *t)
{
	bool is_long = t->fleet->batch != 0;
	struct txn *x = is_long ? txn_new() : look_txn(&t->fleet->limiter, LOOK_LINE);

	if (is_long)
		batch_get(x, &t->fleet->limiter);
	look_line(&t->look);
	tally_get(x, &t->fleet->limiter, t->permit.seat);
	taker_txn(t, MAIN, x, is_long ? read_tally_and_batch : read_tally_and_line);
}

/* ---- */

void
leaving_act(struct fleet_taker *t)
{
	struct round r;

	if (t->slot[MAIN].call != NULL || (t->unread && !life_is_settled(&t->fleet->life)))
		return;
	if (!taker_is_fenced(t))
		return;
	if (t->unread) {
		learn(t);
	} else if (t->state == LEAVING) {
		depart(t);
	} else if (!t->looked && (t->created != 0 || t->tally == NULL || t->fleet->batch != 0)) {
		look(t);
	} else if (!t->looked) {
		ask(t);
	} else {
		round_plan(&r, &t->look, t->self, true, fleet_operations(t->fleet, &t->look));
		if (r.n > 0)
			pass_on(t, &r);
		else
			depart(t);
	}
}

void
leave_begin(struct fleet_taker *t, enum fleet_kind kind, int code)
{
	t->ending = kind;
	t->ending_code = code;
	if (t->state == LEAVING || t->state == RELEASING)
		return;
	if (t->state <= MARKING) {
		taker_stop(t);
		t->unreported = true;
		return;
	}
	taker_hush(t, DEAD);
	watching_end_all(t);
	t->failures = 0;
	t->looked = false;
	t->unread = t->adopted || t->claim_lease != 0;
	taker_go(t, kind == FLEET_RELEASED ? RELEASING : LEAVING);
}
