/* SPDX-License-Identifier: ISC */
/*
 * made_line.c - the law of the line: each in its turn, once, and on seats of its own.
 */
#include "made.h"

/* Taker b waits for a to end, and c, which came after it, is granted before it. */
static void
passed(unsigned a, unsigned b, unsigned c)
{
	start_as('S', BIRTH, 1, a, 1, 1, 2, 3);
	start_as('S', BIRTH, 5, c, 3, 2, 1, 3);
	finish(10, a);
	start_as('S', BIRTH, 11, b, 2, 3, 2, 3);
	finish(12, b);
	finish(13, c);
}

static void
passed_if(unsigned yield)
{
	const struct flk_request want = { .weight = 2, .limit = 3, .yield = yield };
	unsigned a = launch(0, 2, 3, 0), b = launch_as(1, want, 0);

	passed(a, b, launch(4, 1, 3, 0));
}

static void
passed_with_consent(void)
{
	passed_if(1);
}

static void
passed_without(void)
{
	passed_if(0);
}

/* The third is of this key, and the second of the first one's. */
static void
passed_by_key(unsigned key)
{
	unsigned a = launch_of(0, 1, 2, 3), b = launch_of(1, 1, 2, 3);

	passed(a, b, launch_of(4, key, 1, 3));
}

static void
passed_by_another_key(void)
{
	passed_by_key(2);
}

static void
passed_by_its_own_key(void)
{
	passed_by_key(1);
}

static void
overtaken(void)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0);

	start(1, b, 2, 1, 3);
	finish(10, b);
	start(12, a, 1, 3, 3);
	finish(14, a);
}

/* Both were granted at once; the second was the first to say so. */
static void
late_to_say_so(void)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 1, 3, 0);

	start(1, b, 2, 1, 3);
	finish(10, b);
	start(12, a, 1, 2, 3);
	finish(14, a);
}

static void
one_ticket_two_takers(void)
{
	unsigned a = launch(0, 1, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	finish(3, a);
	start(5, b, 1, 1, 3);
	finish(7, b);
}

static void
one_taker_two_commands(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start(2, a, 2, 1, 3);
	finish(7, a);
}

static void
a_lower_ticket_later(void)
{
	unsigned a = launch(0, 1, 3, 0), b;

	start(1, a, 5, 1, 3);
	finish(3, a);
	b = launch(4, 1, 3, 0);
	start(5, b, 4, 1, 3);
	finish(7, b);
}

static void
one_seat(void)
{
	unsigned a = launch(0, 1, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start(2, b, 101, 1, 3);
	finish(3, a);
	finish(7, b);
}

static void
two_on_seats(unsigned seat, unsigned other)
{
	unsigned a = launch(0, 2, 4, 0), b = launch(0, 2, 4, 0);

	start_on(1, a, 1, 0, 2);
	start_on(2, b, 2, seat, other);
	finish(3, a);
	finish(7, b);
}

static void
other_seats(void)
{
	two_on_seats(1, 3);
}

static void
second_seat_shared(void)
{
	two_on_seats(1, 2);
}

static void
too_few_seats(void)
{
	two_on_seats(1, 1);
}

static void
cancelled(bool ran)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 3, 3);
	line('C', 5, "%u 2", b);
	if (!ran)
		line('R', 6, "%u %d", b, EXIT(75));
	finish(10, a);
	if (ran) {
		start(11, b, 2, 1, 3);
		finish(20, b);
	}
}

static void
was_cancelled(void)
{
	cancelled(false);
}

static void
ran_though_cancelled(void)
{
	cancelled(true);
}

static void
interrupted(unsigned ticket_before)
{
	unsigned a = launch(0, 1, 3, AGENT | RESTLESS);

	line('P', 1, "%u %u 2 7", a, ticket_before);
	start(1, a, 2, 1, 3);
	finish(10, a);
}

static void
kept_its_place(void)
{
	interrupted(2);
}

static void
lost_its_place(void)
{
	interrupted(1);
}

const struct made made_line[] = {
	{ overtaken, OVERTAKEN, "overtaken" },
	{ passed_without, OVERTAKEN, "passed without its consent" },
	{ passed_with_consent, INNOCENT, "passed with its consent" },
	{ passed_by_another_key, INNOCENT, "passed by a taker of another key" },
	{ passed_by_its_own_key, OVERTAKEN, "passed by a taker of its own key" },
	{ late_to_say_so, INNOCENT, "granted in order, said in another" },
	{ one_ticket_two_takers, RAN_TWICE, "one ticket, two takers" },
	{ one_taker_two_commands, RAN_TWICE, "one taker, two commands" },
	{ a_lower_ticket_later, TICKET_ORDER, "a lower ticket for a later taker" },
	{ one_seat, SEAT_SHARED, "one seat for two" },
	{ other_seats, INNOCENT, "each on its own seats" },
	{ second_seat_shared, SEAT_SHARED, "one seat of two for two" },
	{ too_few_seats, UNTRUE_LIMIT, "one seat for two units" },
	{ was_cancelled, INNOCENT, "75 after somebody cancelled it" },
	{ ran_though_cancelled, CANCELLED, "it was cancelled, and runs" },
	{ kept_its_place, INNOCENT, "interrupted, with the same ticket afterwards" },
	{ lost_its_place, PLACE_LOST, "interrupted, with another ticket afterwards" },
	{ NULL, INNOCENT, NULL },
};
