/* SPDX-License-Identifier: ISC */
/*
 * kept.c - the history has each waiter once that the gate has kept, and says what kept it.
 */
#include "../helpers/common.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "watch.c"
#include "wait.c"

static struct header page;
static struct slot slots[2];
static struct event ring[8];
static struct state view;
static struct flk limiter;
static struct flk_taker one;

/* The taker in slot 0 is the head, and units are free for it. */
static void
begin_gate(bool set)
{
	const struct flk_gate gate = { .when = "running<5" };

	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	limiter.file.h = &page;
	limiter.file.slots = slots;
	limiter.file.history = ring;
	page.event_room = 8;
	one = (struct flk_taker){ .flk = &limiter, .slot = 0, .guard_fd = -1 };
	view = (struct state){ .h = &page, .slots = slots, .history = ring, .n = 2, .me = 0 };
	if (set)
		flki_gate_set(&view, &gate);
	slots[0].ticket = page.gate.waiter = 7;
	view.reading = (struct reading){ .gate = page.gate.is, .failed = 1 };
	page.gate.failed = 1;
	page.gate.value = 9;
}

static uint64_t
events(void)
{
	note_gated(&one, &view);
	return page.events;
}

static void
test_gate(void)
{
	begin_gate(true);
	is(events(), 1, "a waiter that the gate keeps");
	ok(ring[0].kind == FLK_EV_GATED && ring[0].ticket == 7 && ring[0].value == 9 &&
	       strcmp(ring[0].when, "running<5") == 0,
	   "is in the history, with what keeps it");
	is(events(), 1, "once");
	slots[0].ticket = page.gate.waiter = 8;
	is(events(), 2, "and once for its next ticket");
	begin_gate(true);
	view.reading.failed = 0;
	is(events(), 0, "not if all conditions hold");
	begin_gate(true);
	view.reading.gate = 0;
	is(events(), 0, "or it has not looked");
	begin_gate(true);
	page.gate.waiter = 0;
	is(events(), 0, "or it lacks units");
	begin_gate(false);
	is(events(), 0, "or there is no gate");
}

static void
test_question(void)
{
	begin_gate(false);
	slots[0].asks = 2;
	is(events(), 1, "a question of its own keeps it, too");
	is(strcmp(ring[0].when, FLK_GATE_QUESTION), 0, "as the history says");
}

int
main(void)
{
	begin();
	test_gate();
	test_question();
	return tap_done();
}
