/* SPDX-License-Identifier: ISC */
/*
 * hostile.c - each lie that a file can tell, once: the check has a sentence for it, a rebuild does
 * not believe it, and whoever is led astray by an index notices.  And numbers at their end.
 *
 * damage.c tells lies at random, to whole takers; this is for those that chance seldom finds.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

#define SLOTS 16

static struct header h;
static struct slot slots[SLOTS];
static struct state st;

/* 0 and 1 hold 2 units each of 4 and 5; 2 and 4 wait, and 3, a barrier, between them. */
static void
begin_state(void)
{
	st = empty_state(&h, slots, SLOTS);
	enter_line(&st, 0, 2, 4, TAKER);
	enter_line(&st, 1, 2, 5, TAKER);
	enter_line(&st, 2, 3, 5, TAKER);
	enter_line(&st, 3, 1, 1, BARRIER);
	enter_line(&st, 4, 1, 5, TAKER);
}

/* ---- the index ---- */

static const struct {
	int lie;
	const char *seen;
} lies[] = {
	{ 0, "outside the file" },     { 1, "another state" },     { 2, "forwards and backwards" },
	{ 3, "order of the tickets" }, { 4, "never drawn" },       { 5, "end or length" },
	{ 6, "end or length" },        { 8, "has no seat" },       { 9, "has no seat" },
	{ 10, "two holders" },         { 11, "in no list" },       { 12, "in no list" },
	{ 13, "in no list" },          { 14, "not the sum" },      { 15, "taken by nobody" },
	{ 16, "smallest limit" },      { 17, "smallest limit" },   { 18, "although it fits" },
	{ 19, "although it fits" },    { 20, "out of order" },     { 21, "passed more often" },
	{ 22, "never drawn" },         { 23, "has no seat" },      { 24, "two holders" },
	{ 25, "although it fits" },    { 26, "behind its place" }, { 27, "no known state" },
};

static void
tell(int lie)
{
	switch (lie) {
	case 0:
		slots[2].next = SLOTS;
		break;
	case 1:
		h.holders.head = 2;
		break;
	case 2:
		slots[1].prev = 4;
		break;
	case 3:
		slots[1].ticket = slots[0].ticket;
		break;
	case 4:
		h.last_ticket = 1;
		break;
	case 5:
		h.holders.tail = 0;
		break;
	case 6:
		h.holders.count = 3;
		break;
	case 8:
		slots[0].seat = SLOTS;
		break;
	case 9:
		slots[0].seat_bits = 2;
		break;
	case 10:
		slots[1].seat = 0;
		slots[1].seats = 3;
		break;
	case 11:
		atomic_store(&slots[9].state, HELD);
		slots[9].seat = 0;
		slots[9].limit = 9;
		break;
	case 12:
		atomic_store(&slots[9].state, WAITING);
		break;
	case 13:
		h.barriers = 0;
		break;
	case 14:
		h.used = 5;
		break;
	case 15:
		slots[0].seat_bits = 0x1f;
		break;
	case 16:
		h.min_limit = 5;
		break;
	case 17:
		h.min_count = 2;
		break;
	case 18:
		h.override = 7;
		break;
	case 20:
		slots[4].order = slots[2].order;
		break;
	case 21:
		slots[2].passed_by = 1;
		break;
	case 22:
		slots[0].fence = 99;
		break;
	case 23: /* fewer seats than units */
		slots[0].seats = 1;
		break;
	case 24:
		slots[1].seat = 1;
		slots[1].seats = 6;
		break;
	case 25: /* out of use, but held */
		h.seats_off = 1;
		h.override = 7;
		break;
	case 26:
		slots[4].order++;
		break;
	case 27:
		atomic_store(&slots[9].state, OUT + 1);
		break;
	default:
		slots[2].weight = 0;
		break;
	}
}

static void
test_index(void)
{
	unsigned i;

	begin_state();
	ok(flki_state_check(&st) == NULL, "a state without lies");
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		const char *why;
		begin_state();
		tell(lies[i].lie);
		why = flki_state_check(&st);
		ok(why != NULL && strstr(why, lies[i].seen) != NULL, "lie %d: %s (%s)", lies[i].lie,
		   lies[i].seen, why != NULL ? why : "not seen");
	}
}

/* Alone, a head fits though it is heavier than what an operator left; a head that the gate keeps knows it. */
static void
test_head(void)
{
	const struct flk_gate gate = { .when = "mem>1G", .patience_ns = UINT64_MAX };
	const char *why;

	begin_state();
	h.paused = 1;
	flki_state_release(&st, 0);
	flki_state_release(&st, 1);
	ok(flki_state_check(&st) == NULL, "in a pause the head waits");
	h.override = 1;
	h.paused = 0;
	why = flki_state_check(&st);
	ok(why != NULL && strstr(why, "although it fits") != NULL, "but not alone, after it");
	h.override = 0;
	ok(flki_state_check(&st) == NULL, "of nothing it gets nothing");
	h.override = FLK_AUTO;
	flki_gate_set(&st, &gate);
	flki_state_grant(&st);
	ok(flki_state_check(&st) == NULL && h.gate.waiter == slots[2].ticket,
	   "a gate keeps the head, which knows it");
	h.gate.waiter = 0;
	why = flki_state_check(&st);
	ok(why != NULL && strstr(why, "not told") != NULL, "or the check has a sentence for it");
}

/* What leads outside leads nowhere, and is noticed. */
static void
test_astray(void)
{
	begin_state();
	h.waiting.head = h.waiting.tail = 99;
	flki_state_grant(&st);
	ok(st.bad, "granting notices a head outside");
	ok(flki_state_rebuild(&st) == false, "who was led astray is told so");
	st.bad = false;
	ok(flki_state_rebuild(&st) && flki_state_check(&st) == NULL,
	   "and the next rebuild is right");

	begin_state();
	h.holders.count = 0;
	flki_state_release(&st, 0);
	ok(st.bad, "a list is not shorter than nothing");

	begin_state();
	slots[0].seat_bits = slots[1].seat_bits = UINT64_MAX;
	h.override = 100;
	flki_state_grant(&st);
	ok(st.bad, "there are no more seats than slots");

	begin_state();
	slots[0].seat = UINT32_MAX;
	slots[0].seats = 0;
	flki_state_release(&st, 0);
	ok(st.bad, "a seat outside the map");

	begin_state();
	slots[4].next = 2; /* a line without end */
	slots[2].weight = slots[4].weight = 9;
	slots[2].kind = slots[4].kind = BARRIER;
	flki_state_grant(&st);
	flki_state_evict_all(&st, -1);
	ok(true, "and no list, however linked, is followed for ever");

	begin_state();
	slots[1].next = 0;
	flki_state_sweep_holders(&st);
	slots[0].prev = 1;
	flki_state_release(&st, 1);
	slots[2].prev = 99;
	flki_state_reap_watched(&st, 2);
	ok(st.bad, "the one before it is outside");
}

static bool some_dead;

static enum fate
any_fate(void *ctx, uint32_t i)
{
	(void)ctx;
	return some_dead && i % 2 == 0 ? DEAD : LIVES;
}

static uint32_t
any_link(void)
{
	return random_below(9) == 0 ? NIL : random_below(8) == 0 ? SLOTS : random_below(6);
}

static void
do_any(uint32_t i)
{
	switch (atomic_load(&slots[i].state)) {
	case HELD:
		if (random_below(2) == 0)
			flki_state_release(&st, i);
		else
			flki_state_sweep_holders(&st);
		break;
	case WAITING:
		if (random_below(4) == 0)
			flki_state_leave(&st, i);
		else if (random_below(3) == 0)
			flki_state_turn_away(&st, i, random_below(3));
		else if (random_below(2) == 0)
			flki_state_evict(&st, i, -1);
		else
			flki_state_reap_watched(&st, i);
		break;
	default:
		if (random_below(2) == 0)
			enter_line(&st, i, 1, 5, random_below(4) == 0 ? BARRIER : TAKER);
		else
			flki_state_evict_all(&st, -1);
		break;
	}
}

/* Whatever the links are, each operation ends, and leaves slots from which all is made anew. */
static void
test_links(void)
{
	unsigned rounds, i, wrong = 0;

	for (rounds = 0; rounds < 20000 && wrong == 0; rounds++) {
		begin_state();
		st.world.fate = any_fate;
		some_dead = random_below(2) == 0;
		h.holders = (struct list){ any_link(), any_link(), random_below(3) - 1 };
		h.waiting = (struct list){ any_link(), any_link(), random_below(3) - 1 };
		for (i = 0; i < 6; i++) {
			slots[i].prev = any_link();
			slots[i].next = any_link();
			slots[i].yield = random_below(3);
		}
		do_any(random_below(6));
		flki_state_check(&st);
		st.bad = false;
		some_dead = false;
		flki_state_salvage(&st);
		wrong += !flki_state_rebuild(&st) || st.bad || flki_state_check(&st) != NULL;
	}
	is(wrong, 0, "%u limiters with any links are mended after any operation", rounds);
}

/* ---- the truth ---- */

static const char *
distort(int lie)
{
	switch (lie) {
	case 0:
		slots[1].ticket = slots[0].ticket;
		return "two permits with one ticket";
	case 1:
		slots[4].ticket = slots[2].ticket;
		return "two waiters with one ticket";
	case 2:
		slots[0].seat = slots[1].seat;
		slots[0].seats = 0;
		return "two permits with one seat";
	case 3:
		slots[0].seat = SLOTS + SEATS;
		slots[0].seats = 0;
		return "a seat that is none";
	case 4:
		slots[0].weight = 0;
		return "a permit of nothing";
	case 5:
		slots[0].weight = FLK_MAX_UNITS + 1;
		return "a permit of too much";
	case 6:
		slots[0].limit = 0;
		return "a permit without a limit";
	case 7:
		slots[0].limit = FLK_MAX_UNITS + 1;
		return "a permit with too high a limit";
	case 8:
		slots[2].limit = 0;
		return "a waiter without a limit";
	case 9:
		slots[0].ticket = 0;
		return "ticket 0";
	case 10:
		slots[4].order = slots[2].order;
		return "two waiters in one place";
	case 11:
		slots[2].order = 0;
		return "a waiter without a place";
	case 12:
		slots[2].ticket = 0;
		return "a waiter without a ticket";
	case 13:
		slots[0].seats = slots[1].seats;
		slots[0].seat = slots[1].seat;
		return "two permits with the same seats";
	case 14:
		slots[0].seats = 6; /* one of them is another permit's */
		slots[0].seat = 1;
		return "two permits that share a seat";
	case 15:
		slots[0].seats = 0x30;
		return "a permit whose first seat is another";
	case 16:
		slots[4].order++;
		return "a waiter behind the place of its ticket";
	case 17:
		slots[4].ticket = slots[2].ticket;
		slots[4].order = slots[2].order - 1;
		return "two waiters with one ticket, of which one has passed the other";
	default:
		return NULL;
	}
}

static void
test_truth(void)
{
	const char *words;
	int lie;

	for (lie = 0;; lie++) {
		begin_state();
		if ((words = distort(lie)) == NULL)
			break;
		ok(!flki_state_rebuild(&st), "nothing is rebuilt from %s", words);
	}
	begin_state();
	slots[0].seats = 1;
	ok(flki_state_rebuild(&st) && slots[0].weight == 1,
	   "a permit with fewer seats than units was to grow, and has not");
	begin_state();
	h.last_ticket = 0;
	ok(flki_state_rebuild(&st) && h.last_ticket == 5, "who waits has drawn his ticket");
	flki_state_evict_all(&st, -1);
	flki_state_evict(&st, 3, -1);
	h.last_ticket = 0;
	ok(flki_state_rebuild(&st) && h.last_ticket == 2, "and who holds has");
}

/* ---- numbers at their end ---- */

static const struct flk_request one = { .weight = 1, .limit = 3 };

static void
test_last_ticket(void)
{
	struct flk *f = fresh(3);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);
	struct flk_permit permit;

	f->file.h->last_ticket = LAST_TICKET - 2;
	is(flk_try(a, &one), 0, "the last ticket but one");
	is(flk_try(b, &one), 0, "the last ticket");
	flk_permit(b, &permit);
	ok(permit.ticket == LAST_TICKET, "is the highest that has a place");
	is(flk_try(c, &one), -FLK_DAMAGED, "there is none behind it");
	is(flk_wait_idle(c, NULL), -FLK_DAMAGED, "nor for a barrier");
	flk_taker_free(c);
	flk_taker_free(b);
	flk_taker_free(a);
	whole(f, "at the end of the tickets");
	flk_detach(f);
}

/* As a program can write, and time can't bring. */
static void
test_last_fence(void)
{
	struct flk *f = fresh(1);
	struct flk_taker *a = taker(f), *b = taker(f), *c = taker(f);

	is(flk_try(a, &one), 0, "a holder");
	is(flk_enqueue(b, &(struct flk_request){ .weight = 1, .limit = 1 }), -EINPROGRESS,
	   "a waiter");
	f->file.h->last_fence = UINT64_MAX;
	is(flk_try(c, &one), -FLK_DAMAGED, "there is no fence behind the last one");
	flk_taker_free(c);
	flk_taker_free(b);
	flk_taker_free(a);
	whole(f, "at the end of the fences");
	flk_detach(f);
}

/* Where no number is free between two places, a newcomer does not stand there: it passes fewer. */
static void
test_no_number_between(void)
{
	begin_state();
	flki_state_evict_all(&st, -1);
	flki_state_evict(&st, 3, -1);
	slots[2].yield = slots[4].yield = 9;
	enter_line(&st, 2, 5, 5, TAKER);
	enter_line(&st, 4, 5, 5, TAKER);
	slots[4].order = slots[2].order + 1;
	enter_line(&st, 5, 1, 5, TAKER);
	ok(slots[2].prev == 5 && slots[2].passed_by == 1 && slots[4].passed_by == 1,
	   "before the first there is always one");
	slots[5].order = slots[2].order - 1;
	enter_line(&st, 6, 1, 5, TAKER);
	ok(slots[6].prev == 4 && h.waiting.tail == 6 && slots[2].passed_by == 1 &&
	       slots[4].passed_by == 1,
	   "it passes none, and none counts it");
	slots[4].order = slots[2].order + 2;
	slots[7].yield = 1;
	slots[6].yield = 9;
	enter_line(&st, 7, 1, 5, TAKER);
	ok(slots[7].prev == 2 && slots[7].next == 4 && slots[2].passed_by == 1 &&
	       slots[4].passed_by == 2 && slots[6].passed_by == 1,
	   "it passes the two before which there is one");
	ok(flki_state_check(&st) == NULL, "the line is right");
}

/*
 * The kernel can mark a taker as dead that is inside, and then two takers tear the index.  A newcomer
 * may find the line empty.  The slots say where it stands all the same.
 */
static void
test_torn_line(void)
{
	begin_state();
	h.waiting = (struct list){ NIL, NIL, 0 };
	h.barriers = 0;
	enter_line(&st, 6, 1, 3, TAKER);
	ok(flki_state_rebuild(&st), "a newcomer to a torn line stands in no other waiter's place");
	ok(h.waiting.head == 2 && h.waiting.tail == 6, "and before none that came earlier");

	begin_state();
	slots[2].next = 4; /* slot 3 is lost */
	slots[4].prev = 2;
	slots[4].yield = 9;
	enter_line(&st, 6, 1, 3, TAKER);
	ok(flki_state_rebuild(&st) && slots[6].prev == 3 && slots[6].next == 4,
	   "it passes those alone that it found in the line");
}

static void
test_generation_wraps(void)
{
	struct flk *f = fresh(3);
	struct slot *first = f->file.slots;
	struct flk_taker *a = taker(f), *b;
	uint32_t i, mine;

	for (i = 0; i < FIRST_SLOTS; i++)
		atomic_store(&first[i].gen, UINT32_MAX);
	is(flk_try(a, &one), 0, "a slot is claimed for the 2^32nd time");
	mine = flk_slot(a);
	is(atomic_load(&first[mine].gen), 0, "and counts from 0 again");

	/* As if its owner before had been killed inside. */
	atomic_store(&f->file.h->lock, (uint64_t)UINT32_MAX << 32 | (uint64_t)(mine + 1) << 1);
	b = taker(f);
	is(flk_try(b, &one), 0, "the lock of the last generation is a dead one's");
	is(f->file.h->repaired, 1, "and was inherited");
	flk_taker_free(b);
	is(flk_release(a), 0, "the living owner of that slot has lost nothing");
	flk_taker_free(a);
	whole(f, "when the generation has wrapped");
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_index();
	test_head();
	test_astray();
	test_links();
	test_truth();
	test_last_ticket();
	test_last_fence();
	test_no_number_between();
	test_torn_line();
	test_generation_wraps();
	return tap_done();
}
