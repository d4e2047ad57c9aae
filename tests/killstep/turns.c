/* SPDX-License-Identifier: ISC */
/*
 * turns.c - takers of a fair limiter that are killed, and those who make a permit grow.
 */
#include "killstep.h"
#include "../helpers/steer.h"

#include <errno.h>

static const struct flk_request one_of_a = { .weight = 1, .limit = 2, .key = "a" };
static const struct flk_request both_of_a = { .weight = 2, .limit = 2, .key = "a" };
static const struct flk_request one_of_b = { .weight = 1, .limit = 2, .key = "b", .share = 3 };
static const struct flk_request one_of_c = { .weight = 1, .limit = 2, .key = "c" };

/* ---- deeds ---- */

static int
make_fair(struct part *p)
{
	return STEER(p->f, FLK_SET_FAIR, .fair = FLK_FAIR_KEY);
}

static int
make_unfair(struct part *p)
{
	return STEER(p->f, FLK_SET_FAIR, .fair = FLK_FAIR_OFF);
}

static int
take_a(struct part *p)
{
	return flk_acquire(p->t, &one_of_a, NULL);
}

static int
take_both_of_a(struct part *p)
{
	return flk_acquire(p->t, &both_of_a, NULL);
}

static int
take_b(struct part *p)
{
	return flk_acquire(p->t, &one_of_b, NULL);
}

static int
take_c(struct part *p)
{
	return flk_acquire(p->t, &one_of_c, NULL);
}

static int
try_b(struct part *p)
{
	return flk_try(p->t, &one_of_b);
}

static int
line_up_of_b(struct part *p)
{
	return flk_enqueue(p->t, &one_of_b);
}

/* Its slot knows what the key a has had. */
static int
have_been_of_a(struct part *p)
{
	int error = flk_acquire(p->t, &one_of_a, NULL);

	return error != 0 ? error : flk_release(p->t);
}

static int
grow_first(struct part *p)
{
	return flk_grow(p->f, p->f->file.slots[FIRST].ticket, 1);
}

/* ---- what the others do ---- */

static void
fair(struct stage *s)
{
	act(s, STEWARD, make_fair);
}

static void
fair_first_holds(struct stage *s)
{
	fair(s);
	act(s, FIRST, take_both_of_a);
}

static void
fair_first_holds_second_waits(struct stage *s)
{
	fair_first_holds(s);
	act(s, SECOND, take_a);
}

static void
fair_first_has_one(struct stage *s)
{
	fair(s);
	act(s, FIRST, take_c);
}

static void
two_keys_behind(struct stage *s)
{
	act(s, SECOND, take_a);
	act(s, THIRD, take_b);
}

static void
a_behind(struct stage *s)
{
	act(s, THIRD, take_a);
}

/* The first has one unit, and asked for two. */
static void
first_may_grow(struct stage *s)
{
	act(s, FOURTH, take_one);
	act(s, FIRST, take_elastic);
	act(s, FOURTH, release);
}

static void
fair_first_may_grow(struct stage *s)
{
	fair(s);
	first_may_grow(s);
}

static void
third_waits_for_all(struct stage *s)
{
	act(s, THIRD, take_all);
}

/* ---- the table ---- */

const struct operation turn_operations[] = {
	{ "make it fair", "flk_set", first_holds, NULL, two_behind, make_fair, NULL, 0, NULL, 0 },
	{ "make it fair no longer", "flk_set", fair_first_holds, NULL, two_keys_behind, make_unfair,
	  NULL, 0, NULL, 0 },
	{ "acquire in turn", "flk_acquire", fair, NULL, NULL, take_b, NULL, 0, NULL, 0 },
	{ "pass in turn", "flk_enqueue", fair_first_holds_second_waits, NULL, NULL, line_up_of_b,
	  NULL, -EINPROGRESS, a_behind, 0 },
	{ "pass in turn, in vain", "flk_try", fair_first_holds_second_waits, NULL, a_behind, try_b,
	  NULL, -EAGAIN, NULL, 0 },
	{ "come with another key", "flk_acquire", fair_first_has_one, have_been_of_a, NULL, take_b,
	  NULL, 0, a_behind, 0 },
	{ "release in turn", "flk_release", fair, take_both_of_a, two_keys_behind, release, NULL, 0,
	  NULL, 0 },
	{ "leave in turn", "flk_leave", fair_first_holds_second_waits, line_up_of_b, a_behind,
	  leave, NULL, 0, NULL, 0 },
	{ "mend a dead one in turn", "flk_wait", fair_first_holds_second_waits, line_up_of_b,
	  a_behind, wait_on, second_dies, -EINPROGRESS, NULL, 0 },
	{ "grow a permit", "flk_grow", first_may_grow, NULL, NULL, grow_first, NULL, 0,
	  third_waits_for_all, 0 },
	{ "grow a permit in turn", "flk_grow", fair_first_may_grow, NULL, NULL, grow_first, NULL, 0,
	  a_behind, 0 },
	{ "grow a permit in vain", "flk_grow", first_may_grow, NULL, third_waits_for_all,
	  grow_first, NULL, -EAGAIN, NULL, 0 },
};

const unsigned turn_operations_count = sizeof(turn_operations) / sizeof(turn_operations[0]);
