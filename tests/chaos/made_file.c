/* SPDX-License-Identifier: ISC */
/*
 * made_file.c - the law of the file: what is removed gives no permit, and idle means that none is held.
 */
#include "made.h"

#include <inttypes.h>

static void
the_file_removed(uint64_t birth)
{
	unsigned a = launch(0, 2, 3, 0), b;

	start(1, a, 1, 2, 3);
	spell('U', 2, 3, " 0");
	b = launch(20, 2, 3, 0);
	start_in(birth, 21, b, 2, 2, 3);
	finish(birth == BIRTH ? 11 : 30, a);
	finish(40, b);
}

static void
in_the_old_file(void)
{
	the_file_removed(BIRTH);
}

static void
in_the_new_file(void)
{
	the_file_removed(BIRTH + 1);
}

static void
not_idle(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	spell('I', 2, 5, " %" PRIu64, BIRTH);
	finish(9, a);
}

static void
idle(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	finish(4, a);
	spell('I', 2, 5, " %" PRIu64, BIRTH);
}

static void
removed_idle(unsigned from, unsigned until)
{
	unsigned a = launch(0, 2, 3, 0);

	start(from, a, 1, 2, 3);
	finish(until, a);
	spell('M', 10, 12, " 0 %" PRIu64, BIRTH);
}

static void
removed_when_idle(void)
{
	removed_idle(1, 9);
}

static void
removed_while_one_holds(void)
{
	removed_idle(1, 30);
}

static void
granted_in_a_removed_one(void)
{
	removed_idle(15, 30);
}

/* Its wrapper is killed, the limiter removed, and only then does the command say that it runs. */
static void
removed_before_it_spoke(unsigned flags)
{
	unsigned a = launch(0, 2, 3, flags);

	kill_wrapper(5, a);
	spell('M', 10, 12, " 0 %" PRIu64, BIRTH);
	start(15, a, 1, 2, 3);
	line('E', 20, "%u %u %d", a, 100 + a, CODE(a));
}

static void
removed_before_one_with_a_guard_spoke(void)
{
	removed_before_it_spoke(0);
}

static void
removed_before_one_without_a_guard_spoke(void)
{
	removed_before_it_spoke(CLOSE);
}

const struct made made_file[] = {
	{ in_the_old_file, OLD_FILE, "a newcomer in a removed file" },
	{ in_the_new_file, INNOCENT, "permits of a removed file do not count" },
	{ not_idle, NOT_IDLE, "idle while one holds" },
	{ idle, INNOCENT, "idle at last" },
	{ removed_when_idle, INNOCENT, "removed when nobody held it" },
	{ removed_while_one_holds, OLD_FILE, "removed while one holds" },
	{ granted_in_a_removed_one, OLD_FILE, "granted in a limiter that was removed" },
	{ removed_before_one_with_a_guard_spoke, OLD_FILE,
	  "removed while an orphan holds that has not spoken yet" },
	{ removed_before_one_without_a_guard_spoke, INNOCENT,
	  "removed when a wrapper without a guard was killed, before its command spoke" },
	{ NULL, INNOCENT, NULL },
};
