/* SPDX-License-Identifier: ISC */
/*
 * why.c - what flocklimitctl why makes of histories that are made up here, where each time is known.
 */
#include "kind.h"
#include "why/parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../helpers/tap.h"

const struct kind here = { .is_file = true };

#define MS   UINT64_C(1000000)
#define MOST 64

static struct flk_event event[MOST];
static size_t events;
static uint64_t first;
static struct flk_snapshot *snapshot;
static struct why why;

static void
fresh(void)
{
	free(snapshot);
	snapshot = calloc(1, sizeof(*snapshot) + 8 * sizeof(snapshot->entry[0]));
	if (snapshot == NULL)
		tap_bail("no memory");
	snapshot->set.override = FLK_AUTO;
	snapshot->last_ticket = 100;
	memset(event, 0, sizeof(event));
	events = 0;
	first = 1;
}

/* Something happens after so many ms. */
static struct flk_event *
at(uint64_t ms, uint32_t kind, uint64_t ticket, int code)
{
	struct flk_event *e = &event[events];

	*e = (struct flk_event){ .number = first + events,
				 .when_ns = ms * MS,
				 .ticket = ticket,
				 .kind = kind,
				 .code = code,
				 .seat = (uint32_t)ticket };
	events++;
	return e;
}

/* The same of a taker that asks for so many units, under its own limit. */
static void
taker(uint64_t ms, uint32_t kind, uint64_t ticket, uint32_t weight, uint32_t limit)
{
	struct flk_event *e = at(ms, kind, ticket, 0);

	e->weight = weight;
	e->limit = kind == FLK_EV_RELEASED ? 0 : limit;
	memcpy(e->command, "cc", 3);
}

static void
queued(uint64_t ms, uint64_t ticket, uint32_t weight, uint32_t limit)
{
	taker(ms, FLK_EV_QUEUED, ticket, weight, limit);
}

/* It passes so many waiters. */
static void
passing(uint64_t ms, uint64_t ticket, uint32_t weight, uint32_t limit, int waiters)
{
	queued(ms, ticket, weight, limit);
	event[events - 1].code = waiters;
}

/* It excludes this set of seats. */
static void
excluding(uint64_t ms, uint64_t ticket, uint32_t weight, uint32_t limit, uint64_t seats)
{
	queued(ms, ticket, weight, limit);
	event[events - 1].seats = seats;
}

static void
granted(uint64_t ms, uint64_t ticket, uint32_t weight, uint32_t limit)
{
	taker(ms, FLK_EV_GRANTED, ticket, weight, limit);
}

static void
ends(uint64_t ms, uint64_t ticket, uint32_t weight)
{
	taker(ms, FLK_EV_RELEASED, ticket, weight, 0);
}

static void
paced(uint64_t ms, unsigned which, struct flk_pace pace)
{
	at(ms, FLK_EV_PACED, 0, (int)which)->pace = pace;
}

/* The ticket waited for so many ms, and the parts are the wait. */
static void
waited(uint64_t ticket, uint64_t now_ms, enum why_fate fate, uint64_t ms, const char *words)
{
	uint64_t sum = 0;
	int i;

	is(why_parts(&why, ticket, event, events, snapshot, now_ms * MS), 0, "%s", words);
	for (i = 0; i < WHY_REASONS; i++)
		sum += why.part[i].ns;
	is(why.fate, fate, "%s: its fate", words);
	is(why.to_ns - why.from_ns, ms * MS, "%s: so long", words);
	is(sum, ms * MS, "%s: the parts add up", words);
}

static void
part(enum why_reason reason, uint64_t ms, uint64_t ticket)
{
	is(why.part[reason].ns, ms * MS, "for so long");
	is(why.part[reason].taker.ticket, ticket, "because of that ticket");
}

static void
test_units(void)
{
	fresh();
	granted(0, 1, 3, 4);
	granted(0, 2, 1, 4);
	queued(10, 3, 2, 4);
	queued(20, 4, 1, 4);
	ends(40, 2, 1);
	ends(100, 1, 3);
	granted(100, 3, 2, 4);
	granted(100, 4, 1, 4);
	waited(3, 500, WHY_GRANTED, 90, "units");
	part(WHY_UNITS, 90, 1);
	ok(!why.early && why.taker.weight == 2 && strcmp(why.taker.command, "cc") == 0, "itself");
	waited(4, 500, WHY_GRANTED, 80, "behind the head");
	part(WHY_LINE, 80, 3);
	waited(1, 500, WHY_NO_WAIT, 0, "granted at once");
	is(why_parts(&why, 99, event, events, snapshot, 0), 0, "a ticket without events");
	ok(why.fate == WHY_NOT_KNOWN && why.drawn, "is not known");
	is(why_parts(&why, 101, event, events, snapshot, 0), 0, "one that was not drawn");
	ok(why.fate == WHY_NOT_KNOWN && !why.drawn, "is not known, either");
}

/* The heaviest of the holders is not the one that was it for the longest. */
static void
test_largest(void)
{
	fresh();
	granted(0, 1, 3, 4);
	granted(0, 2, 1, 4);
	queued(10, 3, 4, 4);
	ends(20, 1, 3);
	ends(100, 2, 1);
	granted(100, 3, 4, 4);
	waited(3, 100, WHY_GRANTED, 90, "first three units, then one for long");
	part(WHY_UNITS, 90, 2);
	fresh();
	granted(0, 1, 2, 4);
	queued(10, 3, 4, 4);
	at(20, FLK_EV_UNITS, 1, 1)->weight = 1;
	taker(60, FLK_EV_LEFT, 3, 4, 4);
	waited(3, 100, WHY_LEFT, 50, "until it gave up");
	part(WHY_UNITS, 50, 1);
}

static void
test_promise(void)
{
	fresh();
	granted(0, 7, 1, 2);
	granted(0, 8, 1, 4);
	queued(10, 9, 1, 4);
	ends(60, 8, 1);
	granted(60, 9, 1, 4);
	queued(70, 10, 1, 8);
	taker(80, FLK_EV_EVICTED, 10, 1, 8);
	waited(9, 100, WHY_GRANTED, 50, "a stricter limit");
	part(WHY_PROMISE, 50, 7);
	is(why.part[WHY_PROMISE].taker.limit, 2, "its limit");
	waited(10, 100, WHY_CANCELLED, 10, "until it was cancelled");
	part(WHY_PROMISE, 10, 7);
}

/* A newcomer may pass waiters that consented to it: the event of its arrival says how many. */
static void
test_passed(void)
{
	fresh();
	granted(0, 1, 2, 3);
	queued(10, 2, 3, 3);
	queued(20, 3, 3, 3);
	passing(30, 4, 1, 3, 2);
	granted(40, 4, 1, 3);
	ends(60, 4, 1);
	ends(100, 1, 2);
	granted(100, 2, 3, 3);
	ends(150, 2, 3);
	granted(150, 3, 3, 3);
	waited(2, 200, WHY_GRANTED, 90, "passed by one");
	part(WHY_UNITS, 80, 1);
	/* For 10 ms the newcomer was the head, and fitted. */
	part(WHY_LATE, 10, 4);
	waited(3, 200, WHY_GRANTED, 130, "the second, passed by the same");
	part(WHY_LINE, 70, 2);
	part(WHY_UNITS, 50, 2);
	part(WHY_LATE, 10, 4);
	waited(4, 200, WHY_GRANTED, 10, "the newcomer, which passed two");
	part(WHY_LATE, 10, 4);
	/* Without the newcomer's unit the head would fit, when the first has ended. */
	fresh();
	granted(0, 1, 2, 3);
	queued(10, 2, 3, 3);
	passing(20, 4, 1, 3, 1);
	granted(20, 4, 1, 3);
	ends(50, 1, 2);
	ends(90, 4, 1);
	granted(90, 2, 3, 3);
	waited(2, 200, WHY_GRANTED, 80, "passed by one that holds longer");
	part(WHY_UNITS, 40, 1);
	part(WHY_PASSED, 40, 4);
	/* It is the head, and waits itself. */
	fresh();
	granted(0, 1, 3, 3);
	queued(10, 2, 3, 3);
	passing(20, 3, 1, 3, 1);
	ends(60, 1, 3);
	granted(60, 3, 1, 3);
	ends(80, 3, 1);
	granted(80, 2, 3, 3);
	waited(2, 200, WHY_GRANTED, 70, "passed by one that waits");
	part(WHY_UNITS, 10, 1);
	part(WHY_PASSED, 60, 3);
	waited(3, 200, WHY_GRANTED, 40, "which had passed");
	part(WHY_UNITS, 40, 1);
}

static void
test_operators(void)
{
	fresh();
	at(0, FLK_EV_PAUSED, 0, 0);
	queued(10, 1, 1, 4);
	queued(15, 2, 1, 4);
	at(30, FLK_EV_RESUMED, 0, 0);
	granted(30, 1, 1, 4);
	granted(30, 2, 1, 4);
	waited(1, 100, WHY_GRANTED, 20, "a pause");
	part(WHY_PAUSE, 20, 0);
	waited(2, 100, WHY_GRANTED, 15, "a pause, for the second as well");
	part(WHY_PAUSE, 15, 0);
	at(40, FLK_EV_OVERRIDE, 0, 2);
	queued(50, 3, 1, 4);
	at(60, FLK_EV_OVERRIDE, 0, 0);
	at(90, FLK_EV_OVERRIDE, 0, FLK_AUTO);
	granted(90, 3, 1, 4);
	waited(3, 100, WHY_GRANTED, 40, "a limit of 2, then of 0");
	part(WHY_PAUSE, 30, 0);
	part(WHY_UNITS, 10, 1);
	/* A limiter that was born paused has no event of that. */
	fresh();
	queued(10, 1, 1, 4);
	at(30, FLK_EV_RESUMED, 0, 0);
	granted(30, 1, 1, 4);
	waited(1, 100, WHY_GRANTED, 20, "a pause from the beginning");
	part(WHY_PAUSE, 20, 0);
	/* An override before the first in the history: nobody can say. */
	fresh();
	queued(10, 1, 1, 4);
	at(30, FLK_EV_OVERRIDE, 0, FLK_AUTO);
	granted(30, 1, 1, 4);
	waited(1, 100, WHY_GRANTED, 20, "before an override");
	part(WHY_UNKNOWN, 20, 0);
}

static void
test_withheld(void)
{
	fresh();
	snapshot->set.withheld = 1;
	granted(0, 1, 1, 3);
	granted(0, 2, 2, 3);
	taker(10, FLK_EV_FORGOT, 2, 2, 3);
	event[events - 1].code = 2;
	queued(20, 3, 1, 3);
	at(50, FLK_EV_RESTORED, 0, 1);
	granted(50, 3, 1, 3);
	waited(3, 100, WHY_GRANTED, 30, "withheld units");
	part(WHY_WITHHELD, 30, 0);
	fresh();
	snapshot->set.withheld = 3;
	snapshot->last_ticket = 0; /* taken before the ticket was drawn */
	queued(20, 1, 1, 3);
	waited(1, 100, WHY_WAITS, 80, "all units withheld, from the beginning");
	part(WHY_WITHHELD, 80, 0);
}

/* Of three seats, one is out of use until it is put back, and one is put out of use while it is held. */
static void
test_seats(void)
{
	fresh();
	at(0, FLK_EV_SEAT_OFF, 0, 2);
	granted(0, 1, 1, 3);
	event[events - 1].seats = 1;
	at(10, FLK_EV_SEAT_OFF, 0, 0);
	queued(20, 2, 2, 3);
	at(50, FLK_EV_SEAT_ON, 0, 2);
	granted(50, 2, 2, 3);
	snapshot->set.seats_off = 1;
	waited(2, 100, WHY_GRANTED, 30, "a seat out of use");
	part(WHY_WITHHELD, 30, 0);
	fresh();
	snapshot->set.seats_off = 4;
	snapshot->last_ticket = 0; /* taken before the ticket was drawn */
	queued(20, 1, 3, 3);
	waited(1, 100, WHY_WAITS, 80, "a seat out of use, from the beginning");
	part(WHY_WITHHELD, 80, 0);
	/* Heavier than the limit in force, it would run alone on the other seats of its own. */
	fresh();
	at(0, FLK_EV_OVERRIDE, 0, 2);
	queued(20, 1, 3, 4);
	snapshot->set.override = 2;
	snapshot->set.seats_off = 1;
	snapshot->last_ticket = 0; /* taken before the ticket was drawn */
	waited(1, 100, WHY_WAITS, 80, "a seat out of use, heavier than the override");
	part(WHY_LATE, 80, 1);
}

static void
in_snapshot(uint64_t ticket, uint32_t weight, uint64_t since_ms, bool holds)
{
	struct flk_entry *e = &snapshot->entry[snapshot->holders + snapshot->waiters];

	*e = (struct flk_entry){ .ticket = ticket,
				 .weight = weight,
				 .limit = 2,
				 .seat = (uint32_t)ticket,
				 .since_ns = since_ms * MS,
				 .holds = holds };
	holds ? snapshot->holders++ : snapshot->waiters++;
}

/* One excludes the seats 1 and 2 of three.  So it needs seat 0, and then also the end of its holder. */
static void
test_excluded(void)
{
	fresh();
	granted(0, 1, 1, 3);
	event[events - 1].seats = 1;
	excluding(20, 2, 1, 3, 6);
	taker(50, FLK_EV_RELEASED, 1, 1, 0);
	granted(50, 2, 1, 3);
	waited(2, 100, WHY_GRANTED, 30, "excluded seats");
	part(WHY_SEATS, 30, 1);
	/* The seat that it does not exclude is out of use, and no holder has any. */
	fresh();
	at(0, FLK_EV_SEAT_OFF, 0, 0);
	excluding(20, 1, 1, 2, 2);
	snapshot->set.seats_off = 1;
	snapshot->last_ticket = 0; /* taken before the ticket was drawn */
	waited(1, 100, WHY_WAITS, 80, "excluded seats and one out of use");
	part(WHY_WITHHELD, 80, 0);
	/* Heavier than the limit in force, it would run alone on the seats of its own. */
	fresh();
	at(0, FLK_EV_OVERRIDE, 0, 2);
	excluding(20, 1, 3, 4, 1);
	snapshot->set.override = 2;
	snapshot->last_ticket = 0; /* taken before the ticket was drawn */
	waited(1, 100, WHY_WAITS, 80, "excluded seats, heavier than the override");
	part(WHY_LATE, 80, 1);
	/* The event of a high limit has no seats; the snapshot has. */
	fresh();
	at(0, FLK_EV_OVERRIDE, 0, 2);
	granted(0, 1, 1, 100);
	event[events - 1].seats = 1;
	queued(20, 2, 1, 100);
	in_snapshot(1, 1, 0, true);
	in_snapshot(2, 1, 20, false);
	snapshot->entry[0].seats = 1;
	snapshot->entry[1].not_seats = 2;
	snapshot->set.override = 2;
	waited(2, 100, WHY_WAITS, 80, "excluded seats of a high limit");
	part(WHY_SEATS, 80, 1);
}

static void
test_pace(void)
{
	fresh();
	paced(0, FLK_SET_STAGGER, (struct flk_pace){ .stagger_ns = 50 * MS });
	granted(10, 1, 1, 4);
	queued(20, 2, 1, 4);
	queued(25, 3, 1, 4);
	granted(60, 2, 1, 4);
	granted(115, 3, 1, 4);
	waited(2, 200, WHY_GRANTED, 40, "a stagger");
	part(WHY_PACE, 40, 0);
	waited(3, 200, WHY_GRANTED, 90, "a stagger twice, and 5 ms late");
	part(WHY_LINE, 35, 2);
	part(WHY_PACE, 50, 0);
	part(WHY_LATE, 5, 3);
	fresh();
	paced(0, FLK_SET_RATE, (struct flk_pace){ .interval_ns = 100 * MS, .burst = 2 });
	granted(1000, 1, 1, 4);
	granted(1010, 2, 1, 4);
	queued(1020, 3, 1, 4);
	granted(1100, 3, 1, 4);
	waited(3, 2000, WHY_GRANTED, 80, "a rate, after its burst");
	part(WHY_PACE, 80, 0);
	fresh();
	paced(0, FLK_SET_RAMP,
	      (struct flk_pace){ .ramp_from = 1,
				 .ramp_step = 1,
				 .ramp_period_ns = 100 * MS,
				 .ramp_idle_ns = 1000 * MS });
	granted(5000, 1, 1, 4);
	queued(5010, 2, 2, 4);
	granted(5200, 2, 2, 4);
	waited(2, 9000, WHY_GRANTED, 190, "a ramp, which begins with the first start");
	part(WHY_PACE, 190, 0);
}

static void
gate(uint64_t ms, const char *when)
{
	struct flk_event *e = at(ms, FLK_EV_GATE, 0, 0);

	snprintf(e->when, sizeof(e->when), "%s", when);
}

static void
test_gate(void)
{
	fresh();
	gate(0, "mem>4G");
	granted(10, 1, 1, 4);
	queued(20, 2, 1, 4);
	queued(25, 3, 4, 4);
	granted(60, 2, 1, 4);
	ends(70, 1, 1);
	ends(75, 2, 1);
	gate(90, "");
	granted(95, 3, 4, 4);
	waited(2, 200, WHY_GRANTED, 40, "a gate");
	part(WHY_GATE, 40, 0);
	waited(3, 200, WHY_GRANTED, 70, "a gate behind one, and 5 ms late");
	part(WHY_LINE, 35, 2);
	part(WHY_UNITS, 15, 1); /* 10 ms because of 1, and 5 because of 2 */
	part(WHY_GATE, 15, 0);
	part(WHY_LATE, 5, 3);
	fresh();
	granted(10, 1, 1, 4);
	queued(20, 2, 1, 4);
	at(30, FLK_EV_GATED, 2, 0);
	granted(80, 2, 1, 4);
	waited(2, 200, WHY_GRANTED, 60, "its own question");
	part(WHY_LATE, 10, 2);
	part(WHY_GATE, 50, 0);
}

/* The head is stopped: the takers behind it wait for that, too. */
static void
test_stopped_head(void)
{
	fresh();
	snapshot->last_ticket = 0;
	paced(0, FLK_SET_STAGGER, (struct flk_pace){ .stagger_ns = 10 * MS });
	granted(10, 1, 1, 4);
	queued(15, 2, 1, 4);
	queued(18, 3, 1, 4);
	waited(2, 100, WHY_WAITS, 85, "a stopped head");
	part(WHY_PACE, 5, 0);
	part(WHY_LATE, 80, 2);
	waited(3, 100, WHY_WAITS, 82, "behind a stopped head");
	part(WHY_LINE, 2, 2);
	part(WHY_LATE, 80, 2);
}

/* ---- what the ring has lost ---- */

static void
test_overwritten(void)
{
	fresh();
	first = 5000;
	ends(100, 10, 2);
	queued(110, 13, 1, 2);
	granted(120, 11, 1, 2);
	granted(120, 13, 1, 2);
	taker(130, FLK_EV_LEFT, 12, 1, 2);
	granted(140, 14, 1, 2);
	granted(150, 9, 1, 2);
	waited(12, 200, WHY_LEFT, 30, "the end of a wait");
	ok(why.early, "its beginning is lost");
	is(why_parts(&why, 9, event, events, snapshot, 200 * MS), 0, "a permit");
	is(why.fate, WHY_FORGOTTEN, "which may have had a wait before");
	is(why_parts(&why, 14, event, events, snapshot, 200 * MS), 0, "a permit");
	is(why.fate, WHY_NO_WAIT, "of a ticket that was drawn after another in the history");
	is(why_parts(&why, 10, event, events, snapshot, 200 * MS), 0, "an end");
	is(why.fate, WHY_FORGOTTEN, "says nothing of the wait");
}

static void
test_snapshot(void)
{
	fresh();
	first = 5000;
	snapshot->last_ticket = 2;
	in_snapshot(1, 2, 5, true);
	in_snapshot(2, 1, 10, false);
	queued(100, 3, 1, 2);
	waited(2, 150, WHY_WAITS, 140, "a wait that is older than the history");
	part(WHY_UNKNOWN, 90, 0);
	part(WHY_UNITS, 50, 1);
	waited(3, 150, WHY_WAITS, 50, "the one behind it");
	part(WHY_LINE, 50, 2);
	is(why_parts(&why, 1, event, events, snapshot, 150 * MS), 0, "a holder");
	is(why.fate, WHY_FORGOTTEN, "whose wait is not known");
	events = 0;
	waited(2, 150, WHY_WAITS, 140, "without any event");
	part(WHY_UNKNOWN, 140, 0);
	is(why_parts(&why, 1, event, events, snapshot, 150 * MS), 0, "a holder without any event");
	is(why.fate, WHY_FORGOTTEN, "is not known");
}

/* A killed taker's event may be missing. */
static void
test_lost_events(void)
{
	fresh();
	granted(0, 1, 2, 2);
	queued(10, 2, 1, 2);
	queued(20, 3, 1, 2);
	at(30, FLK_EV_REPAIRED, 0, 0);
	granted(50, 4, 2, 2);
	event[events - 1].seat = 1;
	ends(80, 4, 2);
	granted(80, 3, 1, 2);
	waited(2, 100, WHY_NO_END, 70, "a waiter without an end");
	waited(3, 100, WHY_GRANTED, 60, "behind a waiter that is not there any more");
	is(why.part[WHY_UNITS].ns, 30 * MS, "it is not behind that one");
	is(why.part[WHY_PASSED].ns, 30 * MS, "but one passed it");
}

int
main(void)
{
	test_units();
	test_largest();
	test_promise();
	test_passed();
	test_operators();
	test_withheld();
	test_seats();
	test_excluded();
	test_pace();
	test_gate();
	test_stopped_head();
	test_overwritten();
	test_snapshot();
	test_lost_events();
	free(snapshot);
	return tap_done();
}
