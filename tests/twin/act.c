/* SPDX-License-Identifier: ISC */
/*
 * act.c - one operation, done to the real one and to the naive one; and what the kernel and
 * lib/wait.c do around it: who dies wakes those who watch it, and who looks sleeps again.
 */
#include "twin.h"

#include <string.h>

#include "clock.h"
#include "request.h"

struct world_of_one world[MOST];
uint64_t world_clock;

static bool left_alone;

bool
is_dead(unsigned who)
{
	return world[who].dead && !world[who].guarded;
}

bool
act_left_alone(void)
{
	return left_alone;
}

void
act_reset(const struct story *story)
{
	unsigned i;

	left_alone = false;
	takers = story->takers;
	real_reset(story);
	naive_history_reset();
	world_clock = 100 * SECOND;
	memset(naive, 0, sizeof(naive));
	memset(world, 0, sizeof(world));
	naive_header =
	    (struct naive_header){ .tickets = story->first_ticket, .override = FLK_AUTO };
	naive_turns_reset(story->slots);
	for (i = 0; i < takers; i++) {
		naive[i].state = IDLE;
		atomic_store(&real_slots[i].state, IDLE);
	}
}

/* ---- what may be done when: a story of which a part was dropped may say nonsense ---- */

static bool
is_takers_own(enum deed deed)
{
	return deed <= IS_CLAIMED;
}

/* The library turns a taker away that excludes too many seats. */
static bool
seats_suffice(const struct op *op)
{
	uint32_t seat, count = 0;

	for (seat = 0; seat < op->want.limit && seat < SEATS; seat++)
		count += seat >= 32 || (op->a >> seat & 1) == 0;
	return op->want.limit > SEATS || count >= op->want.weight;
}

bool
act_possible(const struct op *op)
{
	const struct naive *me = &naive[op->who];
	bool lives = !world[op->who].dead;

	if (op->who >= takers)
		return false;
	switch (op->deed) {
	case ENTERS:
	case TRIES:
		return lives && me->state == IDLE && !naive_header.closed && op->want.weight >= 1 &&
		       op->want.weight <= op->want.limit && flki_request_is_sane(&op->want) &&
		       seats_suffice(op);
	case BARS:
		return lives && me->state == IDLE;
	case LOOKS:
		return lives &&
		       (me->state == WAITING || (me->state == HELD && world[op->who].fresh));
	case LEAVES:
		return lives && me->state == WAITING;
	case RELEASES:
	case FORGETS:
		return lives && me->state == HELD;
	case RELEASES_UNITS:
		return lives && me->state == HELD && op->a >= 1 && op->a < me->weight;
	case GROWS:
		return me->state == HELD && op->a >= 1;
	case SHRINKS:
		return me->state == HELD && op->a >= 1 && op->a < me->weight;
	case COMES_BACK:
		return lives && me->state == OUT;
	case DIES:
		return lives;
	case DIES_GUARDED:
		return lives && me->state == HELD;
	case COMMAND_ENDS:
		return world[op->who].guarded;
	case IS_CLAIMED:
		return is_dead(op->who) && me->state != WAITING && me->state != HELD;
	case EVICTS:
		return me->state == WAITING;
	case OVERRIDES:
		return op->a <= FLK_MAX_UNITS || op->a == UNCUT;
	case RESTORES:
		return op->a <= naive_header.withheld;
	case TAKES_OUT:
	case PUTS_BACK:
		return op->a < SEATS;
	case DECLARES:
		return op->a >= 1 && op->a <= FLK_MAX_UNITS;
	case GATES:
	case TAKES_TURNS:
		return op->a <= 1;
	default:
		return true;
	}
}

/* ---- the kernel's part, and lib/wait.c's ---- */

static void
die(unsigned me, bool guarded)
{
	unsigned i;

	world[me] = (struct world_of_one){ .dead = true, .guarded = guarded };
	for (i = 0; i < takers; i++)
		if (world[i].watches[me])
			world[i].asleep = false;
}

/* Only who is first in the line can have a thread that waits for it. */
static void
end_command(unsigned who)
{
	unsigned first = naive_next(WAITING, NOBODY);

	world[who].guarded = false;
	if (first != NOBODY && world[first].watches[who])
		world[first].asleep = false;
}

/* Is it the head that only a gate keeps, or the one behind, which measures if that is stopped? */
static bool
is_to_measure(unsigned me)
{
	unsigned head = naive_next(WAITING, NOBODY);

	if (head == NOBODY || naive_header.waiter != naive[head].ticket)
		return false;
	return me == head ? naive_header.gated || naive[head].asks
			  : naive_header.gated && naive_predecessor(me) == head;
}

/* Does it go to sleep now?  Not if somebody has died meanwhile whom it must see to. */
static void
settle(unsigned me)
{
	struct world_of_one *w = &world[me];
	unsigned i;

	naive_header.told[me] = false;
	w->fresh = w->asleep = naive[me].state == WAITING;
	w->timed = is_to_measure(me);
	for (i = 0; i < takers; i++) {
		w->watches[i] = w->asleep && must_watch(me, i);
		if (w->watches[i] && is_dead(i))
			w->asleep = false;
	}
}

/* It has heard, or will hear, and then it takes the lock. */
static bool
somebody_comes(void)
{
	unsigned i;

	for (i = 0; i < takers; i++)
		if (!world[i].dead && !world[i].asleep &&
		    (naive[i].state == WAITING || naive[i].state == OUT ||
		     (naive[i].state == HELD && world[i].fresh)))
			return true;
	return false;
}

/* Whoever inherits the lock wakes all, and then they see to everything that there is to see to. */
static void
let_all_look(void)
{
	unsigned i, rounds;

	naive_hush(true);
	naive_rebuild();
	for (rounds = 0; rounds < takers; rounds++)
		for (i = 0; i < takers; i++)
			if (!world[i].dead && naive[i].state == WAITING)
				naive_mend(i);
	naive_hush(false);
}

static bool
somebody_watches(unsigned whom)
{
	unsigned i;

	for (i = 0; i < takers; i++)
		if (world[i].asleep && world[i].watches[whom])
			return true;
	return false;
}

/*
 * The lock is in a dead one's hand.  That does no harm while nobody comes, unless a sleeper's
 * fate could be decided now, or the end of one who lives would bring nobody.
 */
static bool
harms_a_sleeper(void)
{
	unsigned i, j;

	for (i = 0; i < takers; i++) {
		if (!world[i].asleep || world[i].timed)
			continue;
		if (naive[i].state != WAITING)
			return true;
		for (j = 0; j < takers; j++)
			if ((naive[j].state == WAITING || naive[j].state == HELD) && !is_dead(j) &&
			    must_watch(i, j) && !somebody_watches(j))
				return true;
	}
	return false;
}

static void
inherit(const struct op *op)
{
	static struct naive saved[MOST];
	static struct naive_record records[2 * MOST];
	struct naive_header saved_header;
	bool comes;

	naive_live_for(UNCUT, false);
	naive_visit(NULL);
	if (is_takers_own(op->deed))
		die(op->who, false);
	if (real->declared == naive_header.declared_before)
		naive_header.declared = naive_header.declared_before;
	comes = somebody_comes();
	memcpy(saved, naive, sizeof(saved));
	memcpy(records, naive_record, sizeof(records));
	saved_header = naive_header;
	let_all_look();
	left_alone = !comes && harms_a_sleeper();
	memcpy(naive, saved, sizeof(saved));
	memcpy(naive_record, records, sizeof(records));
	naive_header = saved_header;

	naive_rebuild();
	real_scramble(op->cut);
	real_begin(NIL);
	if (!flki_state_rebuild(&real_state))
		real_state.bad = true;
}

/* Times of all lengths, and the same for the same story. */
static void
pass_time(void)
{
	uint64_t n = world_clock * UINT64_C(6364136223846793005) + 1442695040888963407;

	world_clock += 1 + (n >> 40 & 0xffff) * (n >> 56) * 1000;
}

void
act(const struct op *op)
{
	bool lived;

	pass_time();
	naive_header.declared_before = naive_header.declared;
	real_begin(is_takers_own(op->deed) ? op->who : NIL);
	lived = real_acts(op);
	naive_live_for(op->cut == UNCUT ? UNCUT : (op->cut + 1) / 2, op->cut % 2 != 0);
	naive_acts(op);
	if (!lived) {
		inherit(op);
		return;
	}
	if (op->deed == DIES || op->deed == DIES_GUARDED)
		die(op->who, op->deed == DIES_GUARDED);
	else if (op->deed == COMMAND_ENDS)
		end_command(op->who);
	else if (op->deed == IS_CLAIMED)
		world[op->who] = (struct world_of_one){ .dead = false };
	else if (op->deed == LOOKS)
		settle(op->who);
	else if (is_takers_own(op->deed)) {
		world[op->who].fresh = naive[op->who].state == WAITING;
		world[op->who].asleep = false;
	}
}
