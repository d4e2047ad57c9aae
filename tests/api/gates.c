/* SPDX-License-Identifier: ISC */
/*
 * gates.c - which reading opens a gate, for how long, when a patience is over, and when the next look is:
 * each at the nanosecond at which it changes.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <stdint.h>
#include <string.h>

#include "state.h"
#include "clock.h"

#define NOW         (1000 * SECOND)
#define SETTLE      (2 * SECOND)
#define PATIENCE_NS (60 * SECOND) /* the gate's patience */

static struct header h;
static struct slot slots[3];
static struct slot *const head = &slots[0];
static struct state st;

/* The head waits since NOW; a holder has a permit; what was read is a second old, and all held. */
static void
begin_gate(bool set)
{
	struct flk_gate gate = { .when = "mem>1", .settle_ns = SETTLE, .patience_ns = PATIENCE_NS };

	st = empty_state(&h, slots, 3);
	st.me = 0;
	st.now_ns = NOW;
	if (set)
		flki_gate_set(&st, &gate);
	head->ticket = 7;
	h.holders.count = 1;
	h.gate.waiter = 7;
	h.gate.since_ns = NOW;
	st.reading = (struct reading){ .gate = h.gate.is, .at_ns = NOW - SECOND };
}

static bool
opens(void)
{
	return flki_gate_allows(&st, head);
}

static void
test_readings(void)
{
	begin_gate(true);
	ok(opens(), "a reading opens the gate");
	st.reading.failed = 1;
	ok(!opens(), "if all conditions held");
	begin_gate(true);
	st.reading.gate++;
	ok(!opens(), "of this gate");
	begin_gate(true);
	st.reading.at_ns = NOW - 5 * SECOND + 1;
	ok(opens(), "and not long ago");
	st.reading.at_ns--;
	ok(!opens(), "as five seconds are");
	begin_gate(true);
	h.gate.started_ns = NOW - SECOND - SETTLE;
	ok(opens(), "and after the last start had settled");
	h.gate.started_ns++;
	ok(!opens(), "not before");
	h.gate.started_ns = NOW + 1;
	ok(opens(), "a start of another clock is long over");
	begin_gate(true);
	st.now_ns = SECOND;
	st.reading.at_ns = SECOND / 2;
	ok(opens(), "where nothing has started nothing has to settle, also right after the boot");
	begin_gate(true);
	st.ahead_ns = (int64_t)(100 * SECOND);
	st.now_ns += 100 * SECOND;
	st.reading.at_ns += 100 * SECOND;
	h.gate.started_ns = NOW - SECOND - SETTLE;
	ok(opens(), "a clock that is ahead reads the same");
	h.gate.started_ns++;
	ok(!opens(), "and no more");
	flki_gate_begin(&st);
	ok(h.gate.started_ns == NOW && st.reading.gate == 0, "a start makes the reading worthless");
	begin_gate(false);
	st.reading.gate = 99;
	ok(opens(), "where no gate is set nothing is shut");
}

static void
test_patience(void)
{
	begin_gate(true);
	st.reading.failed = 1;
	st.now_ns = NOW + 2 * PATIENCE_NS;
	ok(!opens(), "while a permit is held, the head waits for as long as it takes");
	h.holders.count = 0;
	ok(opens(), "else its patience ends");
	st.now_ns = NOW + PATIENCE_NS;
	ok(opens(), "at its end");
	st.now_ns--;
	ok(!opens(), "and not before");
	h.idle_since_ns = NOW + 1;
	st.now_ns = NOW + PATIENCE_NS;
	ok(!opens(), "it begins when the last permit has ended");
	st.now_ns++;
	ok(opens(), "and ends so much later");
	h.gate.waiter = 8;
	ok(!opens(), "for the head that was told, and no other");
}

static void
test_question(void)
{
	begin_gate(false);
	ok(!flki_gate_is_before(&h, head), "a taker without a question has no gate before it");
	head->asks = 1 + 30;
	ok(flki_gate_is_before(&h, head) && !opens(), "its question is one");
	ok(flki_gate_asks(&st, head), "which it is asked");
	st.answered = true;
	ok(opens(), "until the answer is yes");
	slots[1].asks = 1 + 30;
	ok(!flki_gate_allows(&st, &slots[1]), "and for no other");
	st.answered = false;
	h.holders.count = 0;
	st.now_ns = NOW + 30 * SECOND - 1;
	ok(!opens(), "or its own patience");
	st.now_ns++;
	ok(opens(), "is over");
	head->asks = UINT32_MAX;
	st.now_ns = UINT64_MAX - 1;
	ok(!opens(), "if it ever is");

	begin_gate(true);
	head->asks = 1 + 30;
	ok(flki_gate_asks(&st, head), "behind a gate that is open it is asked, too");
	st.reading.failed = 1;
	ok(!flki_gate_asks(&st, head), "behind one that is shut there is no need to ask");
	h.gate.waiter = 0;
	st.reading.failed = 0;
	ok(!flki_gate_asks(&st, head), "nor where units are lacking");
}

/* ---- the next look ---- */

static uint64_t
look_in(bool is_first)
{
	uint64_t at = flki_gate_look(&st, head, is_first);

	return at == UINT64_MAX ? at : at - st.now_ns;
}

static void
test_looks(void)
{
	begin_gate(true);
	h.gate.looked_ns = NOW - SECOND / 4;
	is(look_in(true), 3 * SECOND / 4, "the head looks once a second");
	is(look_in(false), 3 * SECOND / 4 + 3 * SECOND,
	   "the second in the line, if the head does not");
	h.gate.since_ns = NOW + SECOND;
	is(look_in(false), 4 * SECOND, "after it has been the second for a while");
	h.gate.started_ns = NOW - SECOND / 2;
	is(look_in(true), 3 * SECOND / 2, "after a start when that has settled");
	h.gate.started_ns = 0;
	h.holders.count = 0;
	h.gate.since_ns = NOW - PATIENCE_NS + SECOND / 8;
	is(look_in(true), SECOND / 8, "or when its patience ends before that");
	h.gate.since_ns = NOW - PATIENCE_NS;
	is(look_in(true), 3 * SECOND / 4, "one that is over is no time to look at");
	h.gate.looked_ns = NOW + 1;
	is(flki_gate_look(&st, head, true), 0, "a look of another clock was none");
	h.gate.waiter = 0;
	is(look_in(true), UINT64_MAX, "who lacks units does not look");

	begin_gate(false);
	head->asks = 1 + 30;
	is(look_in(true), UINT64_MAX, "a question alone needs no look");
	h.holders.count = 0;
	is(look_in(true), 30 * SECOND, "but its patience ends");
}

static void
test_wants(void)
{
	begin_gate(true);
	h.gate.looked_ns = NOW;
	ok(!flki_gate_wants_look(&h, NOW + SECOND - 1, true), "the head has looked");
	ok(flki_gate_wants_look(&h, NOW + SECOND, true), "a second ago");
	ok(!flki_gate_wants_look(&h, NOW + 3 * SECOND - 1, false), "the second lets it");
	ok(flki_gate_wants_look(&h, NOW + 3 * SECOND, false), "for three");
	ok(flki_gate_wants_look(&h, NOW - 1, true), "a look of another clock was none");
	ok(!flki_gate_wants_look(&h, NOW, true), "one just now was one");
	begin_gate(false);
	ok(!flki_gate_wants_look(&h, NOW, true), "without a gate there is nothing to look for");
}

static void
test_notes(void)
{
	begin_gate(true);
	st.ahead_ns = (int64_t)SECOND;
	st.reading.failed = 2;
	st.reading.value = 55;
	flki_gate_note_reading(&st);
	ok(h.gate.failed == 2 && h.gate.value == 55 && h.gate.looked_ns == NOW - 2 * SECOND,
	   "a reading is written down, by the machine's clock");
	st.reading.gate += 4;
	st.reading.failed = 3;
	flki_gate_note_reading(&st);
	st.reading.gate = 0;
	flki_gate_note_reading(&st);
	is(h.gate.failed, 2, "if it is of this gate");
}

/* The head is told once that only the gate keeps it; and forgets it when it lacks units. */
static void
test_stands(void)
{
	begin_gate(true);
	h.gate.waiter = 0;
	st.me = NIL;
	slots[0].next = slots[0].prev = slots[1].prev = slots[1].next = NIL;
	flki_gate_stands(&st, 0, true);
	ok(h.gate.waiter == 7 && h.gate.since_ns == NOW && slots[0].wake == 1, "it is told");
	st.now_ns++;
	flki_gate_stands(&st, 0, true);
	ok(h.gate.since_ns == NOW && slots[0].wake == 1, "once");
	ok(flki_gate_keeps(&st, head), "the gate keeps it");
	flki_gate_stands(&st, 0, false);
	ok(h.gate.waiter == 0 && !flki_gate_keeps(&st, head), "until units are lacking");
}

static void
test_setting(void)
{
	struct flk_gate gate, got;
	unsigned i;

	begin_gate(false);
	ok(flki_gate_copy(&h, &got) == 0 && got.when[0] == '\0' && got.settle_ns == FLK_SETTLE_NS &&
	       got.patience_ns == FLK_PATIENCE_NS,
	   "no gate has the usual times");
	for (i = 1; i < 6; i++) {
		memset(&gate, 'a' + (int)i, sizeof(gate.when));
		gate.when[FLK_GATE_TEXT - 1] = '\0';
		gate.settle_ns = i;
		gate.patience_ns = 10 * i;
		flki_gate_set(&st, &gate);
		ok(flki_gate_copy(&h, &got) == h.gate.is && strcmp(got.when, gate.when) == 0 &&
		       got.settle_ns == i && got.patience_ns == 10 * i,
		   "gate %u is as it was set", i);
	}
	gate.when[0] = '\0';
	flki_gate_set(&st, &gate);
	ok(!flki_gate_is_set(&h) && flki_gate_copy(&h, &got) == 0, "and none is none again");
}

int
main(void)
{
	begin();
	test_readings();
	test_patience();
	test_question();
	test_looks();
	test_wants();
	test_notes();
	test_stands();
	test_setting();
	return tap_done();
}
