/* SPDX-License-Identifier: ISC */
/*
 * ops.c - the operations that are killed.  A new operation of the library is a row in the
 * table at the end: what the others do before, what the victim does, and what the others do then.
 * Every limiter here has 2 units.
 */
#include "killstep.h"

#include <errno.h>
#include <signal.h>

#define SLEEPS_AGAIN (-EINPROGRESS) /* the code of a deed that ends asleep */

/* ---- what the others do ---- */

void
first_holds(struct stage *s)
{
	act(s, FIRST, take_all);
}

void
first_holds_second_waits(struct stage *s)
{
	act(s, FIRST, take_all);
	act(s, SECOND, take_one);
}

static void
line_of_three(struct stage *s)
{
	act(s, FIRST, take_one);
	act(s, SECOND, take_one);
	act(s, THIRD, take_all);
}

void
two_behind(struct stage *s)
{
	act(s, SECOND, take_one);
	act(s, THIRD, take_one);
}

static void
one_behind(struct stage *s)
{
	act(s, THIRD, take_one);
}

static void
elastic_behind(struct stage *s)
{
	act(s, SECOND, take_elastic);
	act(s, THIRD, take_one);
}

/* These let two go first. */
static int
take_all_yielding(struct part *p)
{
	const struct flk_request want = { .weight = 2, .limit = 2, .yield = 2 };

	return flk_acquire(p->t, &want, NULL);
}

static int
line_up_yielding(struct part *p)
{
	const struct flk_request want = { .weight = 1, .limit = 2, .yield = 2 };

	return flk_enqueue(p->t, &want);
}

static void
second_yields(struct stage *s)
{
	act(s, FIRST, take_all);
	act(s, SECOND, take_all_yielding);
}

static void
second_yields_beside_room(struct stage *s)
{
	act(s, FIRST, take_one);
	act(s, SECOND, take_all_yielding);
}

/* The victim has the first seat, and the second is free; but the head does not want that. */
static void
second_waits_for_a_seat(struct stage *s)
{
	act(s, SECOND, take_but_second);
	act(s, THIRD, take_one);
}

static void
third_comes(struct stage *s)
{
	act(s, THIRD, take_one);
}

void
first_releases(struct stage *s)
{
	act(s, FIRST, release);
}

static void
third_comes_first_releases(struct stage *s)
{
	third_comes(s);
	first_releases(s);
}

static void
two_behind_and_one_who_waits_for_idle(struct stage *s)
{
	two_behind(s);
	act(s, FOURTH, wait_idle);
}

/* It is granted while it does not run, and does not know it. */
static void
granted_unawares(struct stage *s)
{
	two_behind(s);
	first_releases(s);
}

static void
first_dies(struct stage *s)
{
	slay(s, FIRST);
}

void
second_dies(struct stage *s)
{
	slay(s, SECOND);
}

/* The first dies as soon as it has granted, inside, with more to grant. */
static void
first_dies_granting(struct stage *s)
{
	struct actor *a = &s->cast[FIRST];

	actor_begin(a, release);
	while (atomic_load(&s->eye->file.slots[VICTIM].state) != HELD && actor_step(a))
		;
	if (atomic_load(&s->eye->file.slots[VICTIM].state) != HELD)
		stage_fail(s, "the first grants nothing");
	actor_kill(a);
}

static void
nothing_may_run(struct stage *s)
{
	act(s, STEWARD, override_nothing);
}

static void
paused(struct stage *s)
{
	act(s, STEWARD, pause_it);
}

static void
closed(struct stage *s)
{
	act(s, STEWARD, refuse_all);
}

static void
one_is_forgotten(struct stage *s)
{
	act(s, FIRST, forget_one);
	act(s, FOURTH, forget_one);
}

static void
two_hold_two_wait(struct stage *s)
{
	act(s, FIRST, take_one);
	act(s, FOURTH, take_one);
	two_behind(s);
}

static void
room_for_three(struct stage *s)
{
	s->most = 3;
	two_hold_two_wait(s);
}

static void
fourth_leaves_nonsense(struct stage *s)
{
	two_behind(s);
	act(s, FOURTH, break_index);
	slay(s, FOURTH);
}

static void
fourth_doubts(struct stage *s)
{
	act(s, FOURTH, doubt_index);
	if (!s->failed && atomic_load(&s->eye->file.h->doubted) == 0)
		stage_fail(s, "nobody doubts the index");
}

static void
fourth_loses_the_lock(struct stage *s)
{
	act(s, FOURTH, lose_lock_inside);
}

static void
fourth_notices(struct stage *s)
{
	act(s, FOURTH, notice_lost_lock);
}

/* Nobody watches the first, so only the fourth can wake the taker to which it granted. */
static void
first_dies_granting_and_fourth_notices(struct stage *s)
{
	first_dies_granting(s);
	fourth_notices(s);
}

/* They are woken to see to it, and the victim is there before them. */
static void
two_behind_in_doubt(struct stage *s)
{
	two_behind(s);
	fourth_doubts(s);
}

/* What it leaves is the next that a newcomer finds. */
static void
fourth_is_dead(struct stage *s)
{
	slay(s, FOURTH);
	atomic_store(&s->eye->file.h->hint, FOURTH);
}

/* If it died inside, the lock names this very slot, and the newcomer, who lives, is not meant. */
static void
newcomer_has_the_same_slot(struct stage *s)
{
	atomic_store(&s->eye->file.h->hint, VICTIM);
	act(s, VICTIM, take_all);
}

static void
nothing_or_all_is_forgotten(struct stage *s)
{
	uint64_t units = s->eye->file.h->withheld;

	if (units != 0 && units != 2)
		stage_fail(s, "%llu units are withheld, of 2", (unsigned long long)units);
}

/* ---- the table ---- */

const struct operation operations[] = {
	{ "acquire at once", "flk_acquire flk_enqueue flk_taker_new", NULL, NULL, NULL, take_all,
	  NULL, 0, NULL, 0 },
	{ "acquire what is free", "flk_acquire", NULL, NULL, NULL, take_elastic, NULL, 0, NULL, 0 },
	{ "release to an elastic one", "flk_release", NULL, take_all, elastic_behind, release, NULL,
	  0, NULL, 0 },
	{ "acquire but for a seat", "flk_acquire", NULL, NULL, NULL, take_but_first, NULL, 0, NULL,
	  0 },
	{ "release to one that waits for a seat", "flk_release", NULL, take_one,
	  second_waits_for_a_seat, release, NULL, 0, NULL, 0 },
	{ "release a part to an elastic one", "flk_release_units", NULL, take_all, elastic_behind,
	  release_one, NULL, 0, NULL, 0 },
	{ "try at once", "flk_try", NULL, NULL, NULL, try_one, NULL, 0, NULL, 0 },
	{ "try in vain", "flk_try", first_holds, idle, two_behind, try_one, NULL, -EAGAIN, NULL,
	  0 },
	{ "queue", "flk_enqueue", first_holds_second_waits, NULL, NULL, line_up_for_all, NULL,
	  -EINPROGRESS, third_comes, 0 },
	{ "pass a waiter that yields", "flk_enqueue", second_yields, NULL, NULL, line_up_for_one,
	  NULL, -EINPROGRESS, third_comes, 0 },
	{ "pass a waiter that yields, and be granted", "flk_acquire", second_yields_beside_room,
	  NULL, NULL, take_one, NULL, 0, third_comes, 0 },
	{ "pass a waiter that yields, in vain", "flk_try", second_yields, NULL, third_comes,
	  try_one, NULL, -EAGAIN, NULL, 0 },
	{ "be passed", "flk_wait", first_holds, line_up_yielding, NULL, wait_on,
	  third_comes_first_releases, 0, NULL, 0 },
	{ "queue where the queue is full", "flk_acquire", first_holds_second_waits, idle,
	  one_behind, take_if_alone, NULL, -FLK_FULL, NULL, 0 },
	{ "queue and be granted", "flk_acquire flk_wait", first_holds, idle, NULL, take_all,
	  third_comes_first_releases, 0, NULL, 0 },
	{ "be granted with others", "flk_wait", first_holds_second_waits, line_up_for_one,
	  one_behind, wait_on, first_releases, 0, NULL, 0 },
	{ "pass on after a grant", "flk_wait", first_holds, line_up_for_one, two_behind, wait_on,
	  first_dies_granting, 0, NULL, 0 },
	{ "release", "flk_release", NULL, take_all, line_of_three, release, NULL, 0, NULL, 0 },
	{ "release with nobody waiting", "flk_release", NULL, take_all, NULL, release, NULL, 0,
	  NULL, 0 },
	{ "release a part", "flk_release_units", NULL, take_all, line_of_three, release_one, NULL,
	  0, NULL, 0 },
	{ "forget", "flk_forget", NULL, take_all, line_of_three, forget, NULL, 0,
	  nothing_or_all_is_forgotten, 0 },
	{ "restore", "flk_set", one_is_forgotten, NULL, line_of_three, restore_one, NULL, 0, NULL,
	  0 },
	{ "cancel", "flk_cancel", first_holds, line_up_for_all, two_behind, cancel, NULL, 0, NULL,
	  0 },
	{ "be cancelled", "flk_cancel flk_wait", first_holds, cancelled_in_line, two_behind,
	  wait_on, NULL, -FLK_CANCELLED, NULL, 0 },
	{ "be granted while cancelling", "flk_cancel flk_leave", first_holds, cancelled_in_line,
	  granted_unawares, wait_and_leave, NULL, 0, NULL, 0 },
	{ "leave", "flk_leave", first_holds, line_up_for_all, two_behind, leave, NULL, 0, NULL, 0 },
	{ "leave when granted", "flk_leave", first_holds, line_up_for_all, granted_unawares, leave,
	  NULL, 0, NULL, 0 },
	{ "time out at once", "flk_wait flk_leave", first_holds, line_up_for_all, two_behind,
	  wait_no_longer, NULL, -ETIMEDOUT, NULL, 0 },
	{ "time out", "flk_acquire", first_holds_second_waits, idle, NULL, take_all_soon, NULL,
	  -ETIMEDOUT, NULL, SLEEPS_ON },
	{ "mend a dead predecessor", "flk_wait", first_holds_second_waits, line_up_for_one,
	  one_behind, wait_on, second_dies, SLEEPS_AGAIN, NULL, 0 },
	{ "mend a dead holder", "flk_wait", first_holds, line_up_for_one, two_behind, wait_on,
	  first_dies, 0, NULL, 0 },
	{ "repair", "flk_snapshot", first_holds, NULL, fourth_leaves_nonsense, look, NULL, 0, NULL,
	  0 },
	{ "acquire in doubt", "flk_acquire", NULL, NULL, fourth_doubts, take_all, NULL, 0, NULL,
	  0 },
	{ "look in doubt", "flk_snapshot", first_holds, NULL, two_behind_in_doubt, look, NULL, 0,
	  NULL, 0 },
	{ "release in doubt", "flk_release", NULL, take_all, two_behind_in_doubt, release, NULL, 0,
	  NULL, 0 },
	{ "wait in doubt", "flk_wait", first_holds, line_up_for_one, two_behind_in_doubt, wait_on,
	  first_releases, 0, NULL, 0 },
	{ "be granted by the dead, and another doubts", "flk_wait", first_holds, line_up_for_one,
	  fourth_loses_the_lock, wait_on, first_dies_granting_and_fourth_notices, 0, fourth_notices,
	  0 },
	{ "lose the lock to another", "flk_snapshot", first_holds, NULL, two_behind, lose_lock,
	  NULL, 0, NULL, 0 },
	{ "set the limit", "flk_set", first_holds, NULL, two_behind, set_limit, NULL, 0, NULL, 0 },
	{ "override, lower", "flk_set", two_hold_two_wait, NULL, NULL, override_one, NULL, 0, NULL,
	  0 },
	{ "override, higher", "flk_set", room_for_three, NULL, NULL, override_three, NULL, 0, NULL,
	  0 },
	{ "override no longer", "flk_set", nothing_may_run, NULL, line_of_three, lift_override,
	  NULL, 0, NULL, 0 },
	{ "pause", "flk_set", first_holds, NULL, two_behind, pause_it, NULL, 0, NULL, 0 },
	{ "resume", "flk_set", paused, NULL, line_of_three, resume, NULL, 0, NULL, 0 },
	{ "close", "flk_set", first_holds, NULL, two_behind_and_one_who_waits_for_idle, refuse_all,
	  NULL, 0, NULL, 0 },
	{ "be evicted by a close", "flk_set flk_wait", first_holds, line_up_for_one, two_behind,
	  wait_on, closed, -FLK_CLOSED, NULL, 0 },
	{ "come to what is closed", "flk_acquire", closed, NULL, NULL, take_one, NULL, -FLK_CLOSED,
	  NULL, 0 },
	{ "open", "flk_set", closed, NULL, NULL, admit, NULL, 0, NULL, 0 },
	{ "wait until idle", "flk_wait_idle", first_holds, idle, NULL, wait_idle,
	  third_comes_first_releases, 0, NULL, 0 },
	{ "wait until idle, and it is", "flk_wait_idle", NULL, NULL, NULL, wait_idle, NULL, 0, NULL,
	  0 },
	{ "look", "flk_snapshot", first_holds, NULL, two_behind, look, NULL, 0, NULL, 0 },
	{ "look at one's place", "flk_place", first_holds, line_up_for_one, two_behind, idle, NULL,
	  0, NULL, 0 },
	{ "check", "flk_check", first_holds, NULL, two_behind, check_it, NULL, 0, NULL, 0 },
	{ "tie to a descriptor", "flk_guard", NULL, take_all, line_of_three, guard, NULL, 0, NULL,
	  0 },
	{ "release what is tied", "flk_guard flk_release", NULL, take_all_guarded, line_of_three,
	  release, NULL, 0, NULL, 0 },
	{ "end while idle", "flk_taker_free", NULL, idle, NULL, end, NULL, 0, NULL, 0 },
	{ "end while waiting", "flk_taker_free", first_holds, line_up_for_all, two_behind, end,
	  NULL, 0, NULL, 0 },
	{ "end while holding", "flk_taker_free", NULL, take_all, line_of_three, end, NULL, 0, NULL,
	  0 },
	{ "take over a dead taker's slot", "flk_acquire", fourth_is_dead, NULL, NULL, take_one,
	  NULL, 0, NULL, 0 },
	{ "acquire, and the slot has a new owner", "flk_acquire", NULL, NULL, NULL, take_one, NULL,
	  0, newcomer_has_the_same_slot, 0 },
	{ "make a new file", "flk_attach", NULL, NULL, NULL, be_made, NULL, 0,
	  newcomer_finds_it_whole, RAW | NO_FILE },
	{ "make it in an empty file", "flk_attach", empty_file, NULL, NULL, be_made, NULL, 0,
	  newcomer_finds_it_whole, RAW | NO_FILE },
	{ "make it in another boot's file", "flk_attach", old_boot, NULL, NULL, be_made, NULL, 0,
	  newcomer_finds_it_whole, RAW | NO_FILE | LASTING },
	{ "make it in a copy", "flk_attach", a_copy, NULL, NULL, be_made, NULL, 0,
	  newcomer_finds_it_whole, RAW | NO_FILE },
	{ "open it", "flk_attach", NULL, NULL, NULL, be_made, NULL, 0, NULL, RAW },
	{ "grow", "flk_acquire", others_fill_it, NULL, NULL, grow_it, NULL, 0,
	  newcomer_finds_it_whole, NEW_FILE },
};

const unsigned operations_count = sizeof(operations) / sizeof(operations[0]);
