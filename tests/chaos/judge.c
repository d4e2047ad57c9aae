/* SPDX-License-Identifier: ISC */
/*
 * judge.c - judges a log of chaos.t; and, without one, the judge: logs made by hand, each
 * with one crime, or with what looks like one.
 *
 *	judge.t				the test
 *	judge.t LOG [STALL_MS]		exits with 1 if LOG tells of a violation; a longer stall
 *					is one, too
 *
 * Times are in ms here.  `L' and `S' are written by a taker's numbers; the rest as in chaos.h.
 */
#include "judge.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../helpers/scratch.h"
#include "../helpers/tap.h"

#define MS      UINT64_C(1000000)
#define BIRTH   UINT64_C(1700000000000000000)
#define EXIT(n) ((n) << 8)

static char dir[SCRATCH], path[SCRATCH + 8];
static FILE *out;

__attribute__((format(printf, 3, 4))) static void
line(char letter, unsigned ms, const char *format, ...)
{
	va_list args;

	fprintf(out, "%c %" PRIu64 " ", letter, (ms + 1000) * MS);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

/* For the records with two times. */
__attribute__((format(printf, 4, 5))) static void
spell(char letter, unsigned from, unsigned to, const char *format, ...)
{
	va_list args;

	fprintf(out, "%c %" PRIu64 " %" PRIu64, letter, (from + 1000) * MS, (to + 1000) * MS);
	va_start(args, format);
	vfprintf(out, format, args);
	va_end(args);
	putc('\n', out);
}

static unsigned takers;

/* What is launched next; its id. */
static unsigned
launch_as(unsigned ms, unsigned w, unsigned most, unsigned yield, unsigned n)
{
	line('L', ms, "%u 0 0 %u %u 0 0 0 %u %u", ++takers, w, n, most, yield);
	return takers;
}

static unsigned
launch(unsigned ms, unsigned w, unsigned n, unsigned flags)
{
	line('L', ms, "%u 0 0 %u %u %u 0 0 %u 0", ++takers, w, n, flags, w);
	return takers;
}

static void
start_as(char letter, uint64_t birth, unsigned ms, unsigned id, unsigned ticket, unsigned fence,
	 unsigned w, unsigned told)
{
	line(letter, ms, "%u %u %" PRIu64 " %u %u %u %u %u 0", id, 100 + id, birth, ticket, w, told,
	     ticket % 100, fence);
}

/* Of weight 2, on these two seats. */
static void
start_on(unsigned ms, unsigned id, unsigned ticket, unsigned seat, unsigned other)
{
	line('S', ms, "%u %u %" PRIu64 " %u 2 4 %u %u %u", id, 100 + id, BIRTH, ticket, seat,
	     ticket, 1u << seat | 1u << other);
}

static void
start_in(uint64_t birth, unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_as('S', birth, ms, id, ticket, ticket, w, told);
}

static void
start(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_in(BIRTH, ms, id, ticket, w, told);
}

static void
end(unsigned ms, unsigned id)
{
	line('E', ms, "%u %u %d", id, 100 + id, CODE(id));
	line('R', ms, "%u %d", id, EXIT(CODE(id)));
}

/* A wrapper, its command: hit, and reaped. */
static void
kill_wrapper(unsigned ms, unsigned id)
{
	line('K', ms, "%d %u 9", WRAPPER, id);
	line('R', ms, "%u 9", id);
}

static void
kill_command(unsigned ms, unsigned id)
{
	line('K', ms, "%d %u 9", COMMAND, 100 + id);
	line('R', ms, "%u %d", id, EXIT(128 + 9));
}

/* Who is launched next is to hold the other limiter as well; the id of that permit. */
static unsigned
launch_also(unsigned ms, unsigned w, unsigned n)
{
	line('N', ms, "%u 1 %u %u", ++takers, w, n);
	return takers;
}

static void
start_also(unsigned ms, unsigned id, unsigned ticket, unsigned w, unsigned told)
{
	start_as('T', BIRTH + 1, ms, id, ticket, ticket, w, told);
}

/* ---- the logs ---- */

static void
fine(void)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 1, 3, 0), c = launch(0, 3, 3, 0);

	start(1, a, 1, 2, 3);
	start(1, b, 2, 1, 3);
	end(10, a);
	end(12, b);
	start(13, c, 3, 3, 3);
	end(20, c);
}

/* The second waits, and the third is granted before it. */
static void
passed(unsigned yield)
{
	unsigned a = launch(0, 2, 3, 0), b = launch_as(1, 2, 2, yield, 3), c = launch(4, 1, 3, 0);

	start_as('S', BIRTH, 1, a, 1, 1, 2, 3);
	start_as('S', BIRTH, 5, c, 3, 2, 1, 3);
	end(10, a);
	start_as('S', BIRTH, 11, b, 2, 3, 2, 3);
	end(12, b);
	end(13, c);
}

static void
passed_with_consent(void)
{
	passed(1);
}

static void
passed_without(void)
{
	passed(0);
}

static void
elastic(unsigned got)
{
	unsigned a = launch(0, 1, 8, 0), b = launch_as(0, 1, 2, 0, 8);

	start(1, a, 1, 1, 8);
	start(2, b, 2, got, 8);
	end(10, a);
	end(12, b);
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

static void
two_of_two(unsigned limit, unsigned other_limit)
{
	unsigned a = launch(0, 2, limit, 0), b = launch(0, 2, other_limit, 0);

	start(1, a, 1, 2, limit);
	start(5, b, 2, 2, other_limit);
	end(10, a);
	end(12, b);
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
	end(12, b);
}

static void
an_orphan(unsigned flags)
{
	unsigned a = launch(0, 2, 3, flags), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	kill_wrapper(3, a);
	start(5, b, 2, 2, 3);
	line('E', 10, "%u %u %d", a, 100 + a, CODE(a));
	end(12, b);
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
	end(12, b);
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
	end(12, b);
}

static void
over_one_that_still_spoke(void)
{
	unsigned a = launch(0, 2, 3, RUN | KILL), b = launch(0, 2, 3, 0);

	start(1, a, 1, 2, 3);
	start(5, b, 2, 2, 3);
	line('A', 6, "%u %u", a, 100 + a);
	line('R', 7, "%u %d", a, EXIT(137));
	end(12, b);
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
	end(10, a);
	end(12, b);
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
	end(10, a);
}

static void
told_of_an_override(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(3, a, 1, 1, 4);
	end(10, a);
}

static void
paused(void)
{
	unsigned a;

	spell('G', 0, 1, " 0 %" PRIu64 " %d 1", BIRTH, PAUSE);
	a = launch(2, 1, 3, 0);
	start(3, a, 1, 1, 3);
	end(10, a);
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
	end(10, a);
	if (!over)
		start(11, b, 2, 1, 3);
	spell('G', 12, 13, " 0 %" PRIu64 " %d 0", BIRTH, verb);
	if (over)
		start(14, b, 2, 1, 3);
	end(20, b);
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
overtaken(void)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0);

	start(1, b, 2, 1, 3);
	end(10, b);
	start(12, a, 1, 3, 3);
	end(14, a);
}

/* Both were granted at once; the second was the first to say so. */
static void
late_to_say_so(void)
{
	unsigned a = launch(0, 2, 3, 0), b = launch(0, 1, 3, 0);

	start(1, b, 2, 1, 3);
	end(10, b);
	start(12, a, 1, 2, 3);
	end(14, a);
}

static void
one_ticket_two_takers(void)
{
	unsigned a = launch(0, 1, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	end(3, a);
	start(5, b, 1, 1, 3);
	end(7, b);
}

static void
one_taker_two_commands(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start(2, a, 2, 1, 3);
	end(7, a);
}

static void
a_lower_ticket_later(void)
{
	unsigned a = launch(0, 1, 3, 0), b;

	start(1, a, 5, 1, 3);
	end(3, a);
	b = launch(4, 1, 3, 0);
	start(5, b, 4, 1, 3);
	end(7, b);
}

static void
one_seat(void)
{
	unsigned a = launch(0, 1, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start(2, b, 101, 1, 3);
	end(3, a);
	end(7, b);
}

static void
two_on_seats(unsigned seat, unsigned other)
{
	unsigned a = launch(0, 2, 4, 0), b = launch(0, 2, 4, 0);

	start_on(1, a, 1, 0, 2);
	start_on(2, b, 2, seat, other);
	end(3, a);
	end(7, b);
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
the_file_removed(uint64_t birth)
{
	unsigned a = launch(0, 2, 3, 0), b;

	start(1, a, 1, 2, 3);
	spell('U', 2, 3, " 0");
	b = launch(20, 2, 3, 0);
	start_in(birth, 21, b, 2, 2, 3);
	end(birth == BIRTH ? 11 : 30, a);
	end(40, b);
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
	end(9, a);
}

static void
idle(void)
{
	unsigned a = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	end(4, a);
	spell('I', 2, 5, " %" PRIu64, BIRTH);
}

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

/* There is room at 10; the next starts at 110.  What could excuse that is in between. */
static void
waits(const char *excuse)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0), c = 0;

	spell('B', 20, 21, "%s", "");
	if (strcmp(excuse, "left") == 0)
		c = launch(1, 3, 3, 0);
	start(1, a, 1, 3, 3);
	end(10, a);
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
	end(120, b);
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
	end(10, a);
	end(12, b);
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
	end(10, a);
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
	end(95, b);
	start(96, a, 3, 3, 3);
	start_also(96, also, 1, 1, 3);
	end(100, a);
}

/* A taker of the other limiter holds it until 100; the first limiter is free all the time. */
static void
waits_for_the_other(unsigned until)
{
	unsigned also = launch_also(0, 3, 3), a = launch(0, 1, 3, 0);
	unsigned more = launch_also(0, 3, 3), b = launch(0, 1, 3, 0);

	start(1, a, 1, 1, 3);
	start_also(1, also, 1, 3, 3);
	end(100, a);
	start(until, b, 2, 1, 3);
	start_also(until, more, 2, 3, 3);
	end(until + 10, b);
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

static void
cancelled(bool ran)
{
	unsigned a = launch(0, 3, 3, 0), b = launch(0, 1, 3, 0);

	start(1, a, 1, 3, 3);
	line('C', 5, "%u 2", b);
	if (!ran)
		line('R', 6, "%u %d", b, EXIT(75));
	end(10, a);
	if (ran) {
		start(11, b, 2, 1, 3);
		end(20, b);
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
	end(10, a);
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

static void
removed_idle(unsigned from, unsigned until)
{
	unsigned a = launch(0, 2, 3, 0);

	start(from, a, 1, 2, 3);
	end(until, a);
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

static void
a_check_fails(void)
{
	line('Q', 5, "0 %d -4106", CHECK);
}

static void
nonsense(void)
{
	fputs("S 12 what\n", out);
}

/* ---- */

#define INNOCENT GUILTS

static void
judge(void (*crime)(void), enum guilt want, bool whole, const char *words)
{
	struct verdict v = { .silent = true };
	bool right;

	out = fopen(path, "w");
	if (out == NULL)
		tap_bail("%s", path);
	takers = 0;
	crime();
	if (whole)
		line('Z', 1000, "0");
	fclose(out);
	chaos_judge(path, 50 * MS, &v);
	right = want == INNOCENT ? v.all == 0 : v.count[want] > 0 && v.count[want] == v.all;
	ok(right, "%s%s", want == INNOCENT ? "innocent: " : "", words);
	if (!right) {
		v = (struct verdict){ .all = 0 };
		chaos_judge(path, 50 * MS, &v);
	}
}

int
main(int argc, char **argv)
{
	if (argc > 1) {
		struct verdict v = { .all = 0 };
		chaos_judge(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) * MS : 0, &v);
		return v.all > 0;
	}
	scratch_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);

	judge(fine, INNOCENT, true, "three takers");
	judge(over, OVER_LIMIT, true, "over the limit");
	judge(over_the_promise_to_another, OVER_LIMIT, true, "over the limit of one that holds");
	judge(a_kill_ends_it, INNOCENT, true, "a command that is killed holds until then");
	judge(over_an_orphan, OVER_LIMIT, true, "over the limit with an orphan");
	judge(an_orphan_without_a_guard, INNOCENT, true, "with -o an orphan holds nothing");
	judge(over_an_heir, OVER_LIMIT, true, "over the limit with an orphan's child");
	judge(an_heir_in_the_background, INNOCENT, true, "what a command leaves behind");
	judge(ended_by_its_time, INNOCENT, true, "-T has ended it at an unknown time");
	judge(over_one_that_still_spoke, OVER_LIMIT, true, "but it was alive");
	judge(raised, INNOCENT, true, "a limit that is raised");
	judge(lowered, OVER_LIMIT, true, "over a limit that is lowered");
	judge(alone, INNOCENT, true, "a weight above the override runs alone");
	judge(told_of_an_override, UNTRUE_LIMIT, true, "told of a limit that was not in force");
	judge(paused, UNTRUE_LIMIT, true, "granted while paused");
	judge(granted_in_a_pause, UNTRUE_LIMIT, true, "granted while paused, after a wait");
	judge(granted_when_the_gate_was_gone, INNOCENT, true, "granted when the gate was gone");
	judge(granted_behind_a_gate, UNTRUE_LIMIT, true, "granted behind a closed gate");
	judge(overtaken, OVERTAKEN, true, "overtaken");
	judge(passed_without, OVERTAKEN, true, "passed without its consent");
	judge(passed_with_consent, INNOCENT, true, "passed with its consent");
	judge(elastic_within, INNOCENT, true, "an elastic weight");
	judge(elastic_beyond, UNTRUE_LIMIT, true, "an elastic weight beyond its most");
	judge(late_to_say_so, INNOCENT, true, "granted in order, said in another");
	judge(one_ticket_two_takers, RAN_TWICE, true, "one ticket, two takers");
	judge(one_taker_two_commands, RAN_TWICE, true, "one taker, two commands");
	judge(a_lower_ticket_later, TICKET_ORDER, true, "a lower ticket for who came later");
	judge(one_seat, SEAT_SHARED, true, "one seat for two");
	judge(other_seats, INNOCENT, true, "each on its own seats");
	judge(second_seat_shared, SEAT_SHARED, true, "one seat of two for two");
	judge(too_few_seats, UNTRUE_LIMIT, true, "one seat for two units");
	judge(in_the_old_file, OLD_FILE, true, "a newcomer in a removed file");
	judge(in_the_new_file, INNOCENT, true, "permits of a removed file do not count");
	judge(not_idle, NOT_IDLE, true, "idle while one holds");
	judge(idle, INNOCENT, true, "idle at last");
	judge(failed, STATUS, true, "status 125");
	judge(no_reason_for_75, STATUS, true, "75, and it would have waited for ever");
	judge(gave_up, INNOCENT, true, "75 after its timeout");
	judge(killed_by_nobody, STATUS, true, "killed, and not by the driver");
	judge(never_ended, STATUS, true, "never reaped");
	judge(vanished, VANISHED, true, "a command that ended by nobody's hand");
	judge(units_left, LOST, true, "units that are lost");
	judge(can_not_be_had, LOST, true, "not all of it can be had");
	judge(both_have_room, INNOCENT, true, "two permits each, with room for all");
	judge(over_the_other, OVER_LIMIT, true, "over the limit of the second limiter");
	judge(without_the_other, UNTRUE_LIMIT, true, "a command with one of its two permits");
	judge(the_other_was_removed, INNOCENT, true, "the other's limiter was removed");
	judge(waited_for_one_that_began_anew, INNOCENT, true,
	      "one gave a permit back, as the other's limiter was removed");
	judge(waited_for_the_other, INNOCENT, true, "it waited for the second permit");
	judge(stalled_in_both, STALLED, true, "100 ms with room in both limiters");
	judge(stalled, STALLED, true, "100 ms with free capacity");
	judge(waited_for_one_that_was_stopped, INNOCENT, true, "the head was stopped");
	judge(waited_while_paused, INNOCENT, true, "the limiter was paused");
	judge(waited_behind_one_that_left, INNOCENT, true, "the head had more weight, and left");
	judge(was_cancelled, INNOCENT, true, "75 after somebody cancelled it");
	judge(ran_though_cancelled, CANCELLED, true, "it was cancelled, and runs");
	judge(kept_its_place, INNOCENT, true, "interrupted, with the same ticket afterwards");
	judge(lost_its_place, PLACE_LOST, true, "interrupted, with another ticket afterwards");
	judge(removed_when_idle, INNOCENT, true, "removed when nobody held it");
	judge(removed_while_one_holds, OLD_FILE, true, "removed while one holds");
	judge(granted_in_a_removed_one, OLD_FILE, true, "granted in a limiter that was removed");
	judge(removed_before_one_with_a_guard_spoke, OLD_FILE, true,
	      "removed while an orphan holds that has not spoken yet");
	judge(removed_before_one_without_a_guard_spoke, INNOCENT, true,
	      "removed when a wrapper without a guard was killed, before its command spoke");
	judge(a_check_fails, LOST, true, "a check that fails");
	judge(nonsense, UNREADABLE, true, "nonsense");
	judge(fine, UNREADABLE, false, "the log is cut short");
	unlink(path);
	rmdir(dir);
	return tap_done();
}
