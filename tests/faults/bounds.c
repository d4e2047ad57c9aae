/* SPDX-License-Identifier: ISC */
/*
 * bounds.c - no operation touches a slot that has no disk space, whatever the index says: the page
 * behind the last slot can't be touched here, as in a file that ends there.
 *
 * And the other end: an operation that must see to all slots of a full file sees to each of them.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "state.h"

#define SLOTS 8

static struct header h;
static struct slot *slots;
static struct state st;
static uint32_t dead; /* a set of slots */
static unsigned outside, wakes[SLOTS];

static enum fate
fate(void *ctx, uint32_t i)
{
	(void)ctx;
	outside += i >= SLOTS;
	return dead >> i % SLOTS & 1 ? DEAD : LIVES;
}

static void
wake(void *ctx, uint32_t i)
{
	(void)ctx;
	outside += i >= SLOTS;
	wakes[i % SLOTS]++;
}

/* The last slot ends where the kernel lets no process read or write. */
static void
map_slots(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = SLOTS * sizeof(struct slot), room;
	static char *p;

	room = (size + page - 1) / page * page;
	p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE) == -1)
		tap_bail("mmap");
	slots = (void *)(p + room - size);
}

static void
begin_state(void)
{
	dead = 0;
	st = empty_state(&h, slots, SLOTS);
	st.world = (struct world){ .fate = fate, .wake = wake };
}

static unsigned
count(uint32_t state)
{
	unsigned i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += atomic_load(&slots[i].state) == state;
	return n;
}

static bool
is_whole(void)
{
	return !st.bad && flki_state_check(&st) == NULL;
}

/* ---- a file full of holders, or of waiters ---- */

static void
all_hold(void)
{
	uint32_t i;

	begin_state();
	for (i = 0; i < SLOTS; i++)
		enter_line(&st, i, 1, 100, TAKER);
}

static void
all_wait(void)
{
	uint32_t i;

	begin_state();
	h.paused = 1;
	for (i = 0; i < SLOTS; i++)
		enter_line(&st, i, 1, 100, TAKER);
}

static void
test_full(void)
{
	uint32_t i;

	all_wait();
	is(count(WAITING), SLOTS, "a file full of waiters");
	ok(flki_state_rebuild(&st) && count(WAITING) == SLOTS && is_whole(), "is rebuilt whole");
	flki_state_evict_all(&st, -FLK_CLOSED);
	is(count(OUT), SLOTS, "all of them are turned out");

	all_wait();
	h.paused = 0;
	flki_state_grant(&st);
	ok(count(HELD) == SLOTS && is_whole(), "or all are granted at once");

	all_hold();
	ok(flki_state_rebuild(&st) && count(HELD) == SLOTS && is_whole(),
	   "all permits are rebuilt");
	ok(h.holders.count == SLOTS && h.used == SLOTS && h.min_count == SLOTS, "and counted");
	dead = (1 << SLOTS) - 1;
	flki_state_sweep_holders(&st);
	is(count(FREE), SLOTS, "all of them die, and are reaped in one sweep");
	ok(h.used == 0 && is_whole(), "nothing is left");

	all_wait();
	dead = (1 << SLOTS) - 1;
	flki_state_reap_watched(&st, NIL);
	is(count(FREE), SLOTS, "waiters, too");

	all_wait();
	dead = (1 << (SLOTS - 1)) - 1;
	flki_state_reap_watched(&st, SLOTS - 1);
	is(count(FREE), SLOTS - 1, "or all but the last");

	all_wait();
	for (i = 1; i < SLOTS; i++)
		slots[i].yield = slots[i].passed_by = i != 3;
	ok(flki_state_turn_away(&st, 0, 0), "a newcomer that has passed all others leaves");
	for (i = 1; i < SLOTS && slots[i].passed_by == 0; i++)
		;
	is(i, SLOTS, "and each has its consent again");

	all_hold();
	slots[SLOTS - 1].limit = 9;
	ok(flki_state_rebuild(&st) && h.min_limit == 9 && h.min_count == 1,
	   "the last has the least");
	flki_state_release(&st, 0);
	flki_state_release(&st, SLOTS - 1);
	ok(h.min_limit == 100 && h.min_count == SLOTS - 2 && is_whole(), "until it ends");
}

/* Behind all others in the line stands the taker with the longest way; each is counted. */
static void
test_far_back(void)
{
	uint32_t i;

	begin_state();
	for (i = 0; i < SLOTS; i++)
		slots[i].yield = SLOTS;
	h.paused = 1;
	for (i = 0; i < SLOTS - 1; i++) {
		slots[i].yield = SLOTS - i;
		enter_line(&st, i, 1, 100, TAKER);
	}
	slots[SLOTS - 1].yield = 0;
	enter_line(&st, SLOTS - 1, 1, 100, TAKER);
	is(h.waiting.head, SLOTS - 1, "a newcomer passes all that consent");
	for (i = 0; i < SLOTS - 1 && slots[i].passed_by > 0; i++)
		;
	is(i, SLOTS - 1, "and each of them counts it");
	ok(is_whole(), "the line is right");
}

/* The seats below 64 can be excluded, and those above can't. */
static void
test_high_seats(void)
{
	begin_state();
	slots[0].not_seats = UINT64_MAX;
	enter_line(&st, 0, 1, 100, TAKER);
	slots[1].not_seats = UINT64_MAX;
	enter_line(&st, 1, 1, 100, TAKER);
	ok(slots[0].seat == 64 && slots[1].seat == 65,
	   "behind 64 seats that it does not want are more");
	enter_line(&st, 2, 1, 100, TAKER);
	ok(slots[2].seat == 0 && is_whole(), "and another has the first of all");
}

/* A barrier is woken if it has another predecessor, and sleeps on if it has not. */
static void
test_wakes(void)
{
	begin_state();
	enter_line(&st, 0, 1, 1, TAKER);
	enter_line(&st, 1, 1, 1, TAKER);
	enter_line(&st, 2, 1, 1, BARRIER);
	enter_line(&st, 3, 1, 1, BARRIER);
	memset(wakes, 0, sizeof(wakes));
	flki_state_evict_all(&st, -FLK_CLOSED);
	ok(wakes[1] == 1 && wakes[2] == 1 && wakes[3] == 0, "nobody is woken for nothing");
	ok(is_whole(), "the line is right");
}

/* ---- the end of the file ---- */

static uint32_t
any_link(void)
{
	return random_below(6) == 0 ? NIL : random_below(6) == 0 ? SLOTS : random_below(SLOTS);
}

static void
disturb(void)
{
	uint32_t i = random_below(SLOTS);

	switch (random_below(8)) {
	case 0:
		slots[i].next = any_link();
		break;
	case 1:
		slots[i].prev = any_link();
		break;
	case 2:
		h.waiting.head = any_link();
		break;
	case 3:
		h.holders.head = any_link();
		break;
	case 4:
		h.waiting.tail = any_link();
		break;
	case 5:
		slots[i].ticket = slots[random_below(SLOTS)].ticket;
		break;
	case 6:
		slots[i].seat = random_below(SLOTS + SEATS + 1);
		slots[i].seats = 0;
		break;
	default:
		break;
	}
}

static void
do_any(void)
{
	uint32_t i = random_below(SLOTS), state = atomic_load(&slots[i].state);

	if (state == HELD && random_below(2) == 0)
		flki_state_release(&st, i);
	else if (state == WAITING && random_below(2) == 0)
		flki_state_leave(&st, i);
	else if (state != HELD && state != WAITING)
		enter_line(&st, i, 1 + random_below(3), 3 + random_below(9),
			   random_below(5) == 0 ? BARRIER : TAKER);
	dead = random_below(4) == 0 ? random_below(1 << SLOTS) : 0;
	flki_state_reap_watched(&st, atomic_load(&slots[i].state) == WAITING ? i : NIL);
	flki_state_sweep_holders(&st);
	dead = 0;
}

/* What is touched outside kills this process. */
static void
test_end(void)
{
	unsigned rounds, wrong = 0, n;

	for (rounds = 0; rounds < 3000 && wrong == 0; rounds++) {
		random_seed(rounds);
		begin_state();
		for (n = random_below(30); n > 0; n--)
			do_any();
		wrong += !is_whole() || outside > 0;
		disturb();
		flki_state_check(&st);
		do_any();
		st.bad = false;
		flki_state_salvage(&st);
		wrong += !flki_state_rebuild(&st) || !is_whole() || outside > 0;
	}
	is(wrong, 0, "in %u stories no slot outside of the file was touched", rounds);
}

int
main(void)
{
	begin();
	map_slots();
	test_full();
	test_far_back();
	test_high_seats();
	test_wakes();
	test_end();
	return tap_done();
}
