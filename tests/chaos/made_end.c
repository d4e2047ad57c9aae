/* SPDX-License-Identifier: ISC */
/*
 * made_end.c - the law of ends: each taker ends as it should, and leaves nothing.
 */
#include "made.h"

#include <inttypes.h>
static void
failed(void)
{
	line('R', 3, "%u %d", launch(0, 1, 3, 0), EXIT(125));
}

static void
no_reason_for_75(void)
{
	line('R', 3, "%u %d", launch(0, 1, 3, 0), EXIT(75));
}

static void
gave_up(void)
{
	line('R', 3, "%u %d", launch(0, 1, 3, WAIT), EXIT(75));
}

static void
killed_by_nobody(void)
{
	line('R', 3, "%u 9", launch(0, 1, 3, 0));
}

static void
never_ended(void)
{
	launch(0, 1, 3, 0);
}

static void
vanished(void)
{
	unsigned a = launch(0, 1, 3, KILL);

	/* -k without -T kills nobody */
	start(1, a, 1, 1, 3);
	line('R', 3, "%u %d", a, EXIT(137));
}

static void
units_left(void)
{
	line('W', 50, "0 %" PRIu64 " 1 0 0 0", BIRTH);
}

static void
can_not_be_had(void)
{
	line('W', 50, "0 %" PRIu64 " 0 0 0 -11", BIRTH);
}

static void
a_check_fails(void)
{
	line('Q', 5, "0 %d -4106", CHECK);
}

static void
nonsense(void)
{
	scrawl("S 12 what\n");
}

static void
cut_short(void)
{
	unsigned a = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	finish(10, a);
	omit_end();
}

const struct made made_end[] = {
	{ failed, STATUS, "status 125" },
	{ no_reason_for_75, STATUS, "75, and it would have waited for ever" },
	{ gave_up, INNOCENT, "75 after its timeout" },
	{ killed_by_nobody, STATUS, "killed, and not by the driver" },
	{ never_ended, STATUS, "never reaped" },
	{ vanished, VANISHED, "a command that ended by nobody's hand" },
	{ units_left, LOST, "units that are lost" },
	{ can_not_be_had, LOST, "not all of it can be had" },
	{ a_check_fails, LOST, "a check that fails" },
	{ nonsense, UNREADABLE, "nonsense" },
	{ cut_short, UNREADABLE, "the log is cut short" },
	{ NULL, INNOCENT, NULL },
};
