/* SPDX-License-Identifier: ISC */
/*
 * made_stall.c - the law of stalls: a taker for which there is room starts.
 */
#include "made.h"

#include <inttypes.h>
#include <string.h>

/* There is room at 10; the next starts at 110.  What could excuse that is in between. */
static void
waits(const char *excuse)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0), c = 0;

	spell('B', 20, 21, "%s", "");
	if (strcmp(excuse, "left") == 0)
		c = launch(1, 3, 3, 0);
	start(1, a, 1, 3, 3);
	finish(10, a);
	if (strcmp(excuse, "stopped") == 0) {
		line('K', 5, "%d %u 19", WRAPPER, b);
		line('K', 105, "%d %u 18", WRAPPER, b);
	} else if (strcmp(excuse, "paused") == 0) {
		spell('G', 7, 8, " 0 %" PRIu64 " %d 1", BIRTH, PAUSE);
		spell('G', 104, 105, " 0 %" PRIu64 " %d 0", BIRTH, PAUSE);
	} else if (c != 0) {
		kill_wrapper(105, c);
	}
	start(110, b, 2 + (c != 0), 1, 3);
	finish(120, b);
}

static void
stalled(void)
{
	waits("");
}

static void
waited_for_one_that_was_stopped(void)
{
	waits("stopped");
}

static void
waited_while_paused(void)
{
	waits("paused");
}

static void
waited_behind_one_that_left(void)
{
	waits("left");
}

/*
 * The first holds this limiter, and waits for the other. Its file is removed, so the first gives both back,
 * and the second one runs at last.
 */
static void
waited_for_one_that_began_anew(void)
{
	unsigned also = launch_also(0, 1, 3), a = launch(0, 3, 3, 0), b = launch(1, 1, 3, 0);

	spell('U', 20, 21, " 1");
	start(89, b, 2, 1, 3);
	finish(95, b);
	start(96, a, 3, 3, 3);
	start_also(96, also, 1, 1, 3);
	finish(100, a);
}

/* A taker of the other limiter holds it until 100; the first limiter is free all the time. */
static void
waits_for_the_other(unsigned until)
{
	unsigned also = launch_also(0, 3, 3), a = launch(0, 1, 3, 0);
	unsigned more = launch_also(0, 3, 3), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start_also(1, also, 1, 3, 3);
	finish(100, a);
	start(until, b, 2, 1, 3);
	start_also(until, more, 2, 3, 3);
	finish(until + 10, b);
}

static void
waited_for_the_other(void)
{
	waits_for_the_other(101);
}

static void
stalled_in_both(void)
{
	waits_for_the_other(200);
}

const struct made made_stall[] = {
	{ waited_for_one_that_began_anew, INNOCENT,
	  "one gave a permit back, as the other's limiter was removed" },
	{ waited_for_the_other, INNOCENT, "it waited for the second permit" },
	{ stalled_in_both, STALLED, "100 ms with room in both limiters" },
	{ stalled, STALLED, "100 ms with free capacity" },
	{ waited_for_one_that_was_stopped, INNOCENT, "the head was stopped" },
	{ waited_while_paused, INNOCENT, "the limiter was paused" },
	{ waited_behind_one_that_left, INNOCENT, "the head had more weight, and left" },
	{ NULL, INNOCENT, NULL },
};
