/* SPDX-License-Identifier: ISC */
/*
 * made_limit.c - the law of the limit: never more units than it allows, and it was in force.
 */
#include "made.h"

#include <inttypes.h>

static void
fine(void)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 1, 3, 0), c = launch(0, 3, 3, 0);

	start(1, a, 1, 2, 3);
	start(1, b, 2, 1, 3);
	finish(10, a);
	finish(12, b);
	start(13, c, 3, 3, 3);
	finish(20, c);
}

static void
two_of_two(unsigned limit, unsigned other_limit)
{
	unsigned a = launch(0, 2, limit, 0), b = launch(0, 2, other_limit, 0);

	start(1, a, 1, 2, limit);
	start(5, b, 2, 2, other_limit);
	finish(10, a);
	finish(12, b);
}

static void
over(void)
{
	two_of_two(3, 3);
}

static void
over_the_promise_to_another(void)
{
	two_of_two(3, 8);
}

static void
a_kill_ends_it(void)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	kill_command(4, a);
	start(5, b, 2, 2, 3);
	finish(12, b);
}

static void
an_orphan(unsigned flags)
{
	unsigned a = launch(0, 2, 3, flags), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	kill_wrapper(3, a);
	start(5, b, 2, 2, 3);
	line('E', 10, "%u %u %d", a, 100 + a, CODE(a));
	finish(12, b);
}

static void
over_an_orphan(void)
{
	an_orphan(0);
}

static void
an_orphan_without_a_guard(void)
{
	an_orphan(CLOSE);
}

static void
an_heir(bool orphaned)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	line('H', 2, "%u 777", a);
	if (orphaned)
		kill_wrapper(3, a);
	line('E', 4, "%u %u %d", a, 100 + a, CODE(a));
	if (!orphaned)
		line('R', 4, "%u %d", a, EXIT(CODE(a)));
	start(5, b, 2, 2, 3);
	line('D', 8, "%u 777", a);
	finish(12, b);
}

static void
over_an_heir(void)
{
	an_heir(true);
}

static void
an_heir_in_the_background(void)
{
	an_heir(false);
}

static void
ended_by_its_time(void)
{
	unsigned a = launch(0, 2, 3, RUN | KILL), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	line('A', 3, "%u %u", a, 100 + a);
	start(5, b, 2, 2, 3);
	line('R', 6, "%u %d", a, EXIT(137));
	finish(12, b);
}

static void
over_one_that_still_spoke(void)
{
	unsigned a = launch(0, 2, 3, RUN | KILL), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	start(5, b, 2, 2, 3);
	line('A', 6, "%u %u", a, 100 + a);
	line('R', 7, "%u %d", a, EXIT(137));
	finish(12, b);
}

static void
overridden(unsigned limit)
{
	unsigned a, b;

	spell('G', 0, 1, " 0 %" PRIu64 " %d %u", BIRTH, OVERRIDE, limit);
	a = launch(2, 2, 3, 0);
	b = launch(2, 2, 3, 0);
	start(3, a, 1, 2, limit);
	start(5, b, 2, 2, limit);
	finish(10, a);
	finish(12, b);
}

static void
raised(void)
{
	overridden(4);
}

static void
lowered(void)
{
	overridden(3);
}

static void
alone(void)
{
	unsigned a;

	spell('G', 0, 1, " 0 %" PRIu64 " %d 1", BIRTH, OVERRIDE);
	a = launch(2, 3, 3, 0);
	start(3, a, 1, 3, 1);
	finish(10, a);
}

static void
told_of_an_override(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(3, a, 1, 1, 4);
	finish(10, a);
}

static void
paused(void)
{
	unsigned a;

	spell('G', 0, 1, " 0 %" PRIu64 " %d 1", BIRTH, PAUSE);
	a = launch(2, 1, 3, 0);
	start(3, a, 1, 1, 3);
	finish(10, a);
	spell('G', 11, 12, " 0 %" PRIu64 " %d 0", BIRTH, PAUSE);
}

/*
 * It waited since before that, but could not be granted until the other had ended; and it starts before
 * or after that is over.
 */
static void
granted_in(enum verb verb, bool over)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 3, 3);
	spell('G', 2, 3, " 0 %" PRIu64 " %d 1", BIRTH, verb);
	finish(10, a);
	if (!over)
		start(11, b, 2, 1, 3);
	spell('G', 12, 13, " 0 %" PRIu64 " %d 0", BIRTH, verb);
	if (over)
		start(14, b, 2, 1, 3);
	finish(20, b);
}

static void
granted_in_a_pause(void)
{
	granted_in(PAUSE, false);
}

static void
granted_when_the_gate_was_gone(void)
{
	granted_in(GATE, true);
}

static void
granted_behind_a_gate(void)
{
	granted_in(GATE, false);
}

static void
elastic(unsigned got)
{
	const struct flk_request want = { .weight = 1, .limit = 8, .most = 2 };
	unsigned a = launch(0, 1, 8, 0), b = launch_as(0, want, 0);

	start(1, a, 1, 1, 8);
	start(2, b, 2, got, 8);
	finish(10, a);
	finish(12, b);
}

static void
elastic_within(void)
{
	elastic(2);
}

static void
elastic_beyond(void)
{
	elastic(3);
}

/* Two takers of two limiters, of which the second has room for both, or not. */
static void
two_limiters(unsigned other)
{
	unsigned also = launch_also(0, 2, 3), a = launch(0, 1, 3, 0);
	unsigned more = launch_also(0, other, 3), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start_also(1, also, 1, 2, 3);
	start(2, b, 2, 1, 3);
	start_also(2, more, 2, other, 3);
	finish(10, a);
	finish(12, b);
}

static void
both_have_room(void)
{
	two_limiters(1);
}

static void
over_the_other(void)
{
	two_limiters(2);
}

static void
one_of_two_permits(bool removed)
{
	unsigned a;

	launch_also(0, 1, 3);
	a = launch(0, 1, 3, 0);
	if (removed)
		spell('U', 2, 3, " 1");
	start(4, a, 1, 1, 3);
	finish(10, a);
}

static void
without_the_other(void)
{
	one_of_two_permits(false);
}

static void
the_other_was_removed(void)
{
	one_of_two_permits(true);
}

const struct made made_limit[] = {
	{ fine, INNOCENT, "three takers" },
	{ over, OVER_LIMIT, "over the limit" },
	{ over_the_promise_to_another, OVER_LIMIT, "over the limit of one that holds" },
	{ a_kill_ends_it, INNOCENT, "a command that is killed holds until then" },
	{ over_an_orphan, OVER_LIMIT, "over the limit with an orphan" },
	{ an_orphan_without_a_guard, INNOCENT, "with -o an orphan holds nothing" },
	{ over_an_heir, OVER_LIMIT, "over the limit with an orphan's child" },
	{ an_heir_in_the_background, INNOCENT, "what a command leaves behind" },
	{ ended_by_its_time, INNOCENT, "-T has ended it at an unknown time" },
	{ over_one_that_still_spoke, OVER_LIMIT, "but it was alive" },
	{ raised, INNOCENT, "a limit that is raised" },
	{ lowered, OVER_LIMIT, "over a limit that is lowered" },
	{ alone, INNOCENT, "a weight above the override runs alone" },
	{ told_of_an_override, UNTRUE_LIMIT, "told of a limit that was not in force" },
	{ paused, UNTRUE_LIMIT, "granted while paused" },
	{ granted_in_a_pause, UNTRUE_LIMIT, "granted while paused, after a wait" },
	{ granted_when_the_gate_was_gone, INNOCENT, "granted when the gate was gone" },
	{ granted_behind_a_gate, UNTRUE_LIMIT, "granted behind a closed gate" },
	{ elastic_within, INNOCENT, "an elastic weight" },
	{ elastic_beyond, UNTRUE_LIMIT, "an elastic weight beyond its most" },
	{ both_have_room, INNOCENT, "two permits each, with room for all" },
	{ over_the_other, OVER_LIMIT, "over the limit of the second limiter" },
	{ without_the_other, UNTRUE_LIMIT, "a command with one of its two permits" },
	{ the_other_was_removed, INNOCENT, "the other's limiter was removed" },
	{ NULL, INNOCENT, NULL },
};
