/* SPDX-License-Identifier: ISC */
/*
 * round_run.c - rounds in the background: those that a taker owes which is already gone, or holds; one after
 * the other for all takers of a keeper.
 *
 * A call that gets no answer ends them: the first in the line looks by itself after a while.
 */
#include "round.h"

#include <stdlib.h>

#include "batch.h"
#include "clock.h"
#include "inside.h"
#include "records/retry.h"

/* So many rounds may be void as somebody has come; the next one passes who comes. */
#define STRICT 3

struct round_run {
	struct fleet_part part;
	struct fleet *fleet;
	struct records_call *call;
	struct look look;
	struct round round;
	unsigned failures; /* so many rounds in turn did not hold */
};

static void
end(struct fleet_part *part)
{
	struct round_run *r = (struct round_run *)(void *)part;

	r->fleet->run = NULL;
	if (r->call != NULL)
		records_cancel(r->call);
	look_free(&r->look);
	free(r);
}

static void
over(struct round_run *r)
{
	struct fleet *fleet = r->fleet;

	fleet_part_remove(&r->part);
	end(&r->part);
	if (fleet->run_again)
		round_run(fleet, NULL);
}

static void
send(struct round_run *r, struct txn *x, records_done *done)
{
	r->call = records_txn(r->fleet->store->records, x, r->fleet->store->timeout_ms, done, r);
	if (r->call == NULL)
		over(r);
}

static void go_on(struct round_run *r);

static void
looked_at_all(void *context, const struct records_answer *a)
{
	struct round_run *r = context;

	r->call = NULL;
	if (a->result == RECORDS_OK && look_read(&r->look, LOOK_LIVES, a))
		go_on(r);
	else
		over(r);
}

static void
looked(void *context, const struct records_answer *a)
{
	struct round_run *r = context;
	bool is_spent;

	r->call = NULL;
	if (a->result != RECORDS_OK || !batch_look_read(&r->look, a, &is_spent)) {
		over(r);
	} else if (is_spent) {
		send(r, look_txn(&r->fleet->limiter, LOOK_LONG), looked);
	} else {
		fleet_saw(r->fleet, &r->look);
		go_on(r);
	}
}

static void
found(void *context, const struct records_answer *a)
{
	struct round_run *r = context;

	r->call = NULL;
	if (a->result == RECORDS_OK)
		send(r, batch_look_txn(&r->look, a, r->fleet->batch), looked);
	else
		over(r);
}

static void
look_at(struct round_run *r)
{
	struct txn *x;

	look_line(&r->look);
	if (r->fleet->batch != 0) {
		x = txn_new();
		batch_get(x, &r->fleet->limiter);
		send(r, x, found);
	} else {
		send(r, look_txn(&r->fleet->limiter, LOOK_LINE), looked);
	}
}

static void
granted(void *context, const struct records_answer *a)
{
	struct round_run *r = context;

	r->call = NULL;
	if (a->result != RECORDS_OK || !round_goes_on(&r->round.end, a)) {
		over(r);
	} else if (a->held) {
		r->failures = 0;
		look_at(r);
	} else {
		r->part.due_ns = flki_boottime_ns() + retry_pause(r->failures++);
	}
}

/* After a pause. */
static void
step(struct fleet_part *part)
{
	part->due_ns = UINT64_MAX;
	look_at((struct round_run *)(void *)part);
}

static void
silenced(void *context, const struct records_answer *a)
{
	struct round_run *r = context;

	(void)a;
	r->call = NULL;
	over(r);
}

/* If no taker waits, the bell is for none, and none stands at the end of the line. */
static struct txn *
silence(const struct round_run *r)
{
	struct key w = key_of(&r->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct txn *x = txn_new();

	txn_if_absent(x, w.s, end.s);
	round_add_silence(x, &r->fleet->limiter);
	return x;
}

static void
go_on(struct round_run *r)
{
	struct txn *x;

	if (r->look.waiters == 0) {
		send(r, silence(r), silenced);
		return;
	}
	if (look_is_short(&r->look) && look_has_room(&r->look)) {
		send(r, look_txn(&r->fleet->limiter, LOOK_LIVES), looked_at_all);
		return;
	}
	round_plan(&r->round, &r->look, NULL, false, fleet_operations(r->fleet, &r->look));
	r->round.lax = r->failures >= STRICT;
	if (r->round.n == 0) {
		over(r);
		return;
	}
	x = txn_new();
	round_add_compares(&r->round, x);
	round_add_grants(&r->round, x);
	send(r, x, granted);
}

void
round_run(struct fleet *fleet, struct look *look)
{
	struct round_run *r = NULL;

	fleet->run_again = fleet->run != NULL;
	if (fleet->run_again || (r = calloc(1, sizeof(*r))) == NULL)
		return;
	r->part = (struct fleet_part){ .due_ns = UINT64_MAX, .step = step, .end = end };
	r->fleet = fleet;
	look_init(&r->look, &fleet->limiter);
	fleet->run = r;
	fleet_part_add(fleet, &r->part);
	if (look == NULL) {
		look_at(r);
		return;
	}
	r->look = *look;
	look_init(look, &fleet->limiter);
	go_on(r);
}
