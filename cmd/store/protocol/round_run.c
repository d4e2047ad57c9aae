/* SPDX-License-Identifier: ISC */
/*
 * round_run.c - rounds in the background: those that a taker owes which is already gone, or holds.
 *
 * A call that gets no answer ends them: the first in the line looks by itself after a while.
 */
#include "round.h"

#include <stdlib.h>

#include "inside.h"

struct run {
	struct fleet_part part;
	struct fleet *fleet;
	struct records_call *call;
	struct look look;
	struct round round;
	enum look_kind kind; /* of the look under way */
};

static void
end(struct fleet_part *part)
{
	struct run *r = (struct run *)(void *)part;

	if (r->call != NULL)
		records_cancel(r->call);
	look_free(&r->look);
	free(r);
}

static void
over(struct run *r)
{
	fleet_part_remove(&r->part);
	end(&r->part);
}

static void
step(struct fleet_part *part)
{
	part->due_ns = UINT64_MAX;
}

static void
send(struct run *r, struct txn *x, records_done *done)
{
	r->call = records_txn(r->fleet->store->records, x, r->fleet->store->timeout_ms, done, r);
	if (r->call == NULL)
		over(r);
}

static void go_on(struct run *r);
static void look_at(struct run *r, enum look_kind kind);

static void
looked(void *context, const struct records_answer *a)
{
	struct run *r = context;

	r->call = NULL;
	if (a->result == RECORDS_OK && look_read(&r->look, r->kind, a))
		go_on(r);
	else
		over(r);
}

static void
granted(void *context, const struct records_answer *a)
{
	struct run *r = context;

	r->call = NULL;
	if (a->result == RECORDS_OK && round_goes_on(&r->round.end, a))
		look_at(r, LOOK_LINE);
	else
		over(r);
}

static void
look_at(struct run *r, enum look_kind kind)
{
	r->kind = kind;
	send(r, look_txn(&r->fleet->limiter, kind), looked);
}

static void
silenced(void *context, const struct records_answer *a)
{
	struct run *r = context;

	(void)a;
	r->call = NULL;
	over(r);
}

/* If no taker waits, the bell is for none, and none stands at the end of the line. */
static struct txn *
silence(const struct run *r)
{
	struct key w = key_of(&r->fleet->limiter, 'w', NULL), end = key_end(&w);
	struct txn *x = txn_new();

	txn_if_absent(x, w.s, end.s);
	round_add_silence(x, &r->fleet->limiter);
	return x;
}

static void
go_on(struct run *r)
{
	struct txn *x;

	if (r->look.waiters == 0) {
		send(r, silence(r), silenced);
		return;
	}
	if (look_is_short(&r->look)) {
		look_at(r, LOOK_LIVES);
		return;
	}
	round_plan(&r->round, &r->look, NULL, false, fleet_operations(r->fleet, &r->look));
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
	struct run *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return;
	r->part = (struct fleet_part){ .due_ns = UINT64_MAX, .step = step, .end = end };
	r->fleet = fleet;
	look_init(&r->look, &fleet->limiter);
	fleet_part_add(fleet, &r->part);
	if (look == NULL) {
		look_at(r, LOOK_LINE);
		return;
	}
	r->look = *look;
	look_init(look, &fleet->limiter);
	go_on(r);
}
