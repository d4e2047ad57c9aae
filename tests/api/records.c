/* SPDX-License-Identifier: ISC */
/*
 * records.c - each event as it is written and as it is read: texts that are too long for it, numbers at
 * their ends, and a ring that is written over while it is read.
 */
#include "../helpers/common.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>

#include "internal.h"
#include "clock.h"

static struct header page;
static struct slot slots[2];
static struct event *ring;
static struct state st;
static struct flk limiter;
static struct flk_event seen[EVENTS];

static size_t
ring_size(void)
{
	size_t at = (size_t)sysconf(_SC_PAGESIZE);

	return (EVENTS * sizeof(struct event) + at - 1) / at * at;
}

static void
begin_ring(void)
{
	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	memset(ring, 0, EVENTS * sizeof(struct event));
	memset(&limiter, 0, sizeof(limiter));
	limiter.file.h = &page;
	limiter.file.history = ring;
	limiter.file.slots = slots;
	page.event_room = EVENTS;
	st = (struct state){ .h = &page, .slots = slots, .history = ring, .n = 2, .me = NIL };
	st.now_ns = 77;
	slots[0].ticket = 5;
	slots[0].weight = 3;
	slots[0].seat = 6;
	slots[0].limit = 9;
	slots[0].pid = 123;
	slots[0].uid = 45;
	strcpy(slots[0].command, "/bin/make all");
}

static const struct flk_event *
last(void)
{
	size_t n = flki_local_history(&limiter, 0, seen, EVENTS);

	if (n == 0)
		tap_bail("no event");
	return &seen[n - 1];
}

/* ---- each kind ---- */

static void
test_kinds(void)
{
	const struct flk_event *e;

	begin_ring();
	flki_state_note(&st, FLK_EV_QUEUED, 0, 2);
	e = last();
	ok(e->number == 1 && e->when_ns == 77 && e->ticket == 5 && e->kind == FLK_EV_QUEUED &&
	       e->code == 2,
	   "an event has its number, its time, its taker and its code");
	ok(e->weight == 3 && e->seat == 6 && e->limit == 9 && e->seats == 0 && e->pid == 123 &&
	       e->uid == 45 && strcmp(e->command, "make") == 0,
	   "and what the taker is");
	slots[0].not_seats = UINT64_C(0x8000000100000002);
	flki_state_note(&st, FLK_EV_QUEUED, 0, 1);
	e = last();
	ok(e->kind == FLK_EV_QUEUED && e->seats == slots[0].not_seats && e->limit == 9 &&
	       e->seat == 0 && e->code == 1,
	   "one that excludes seats says which");
	slots[0].limit = FLK_SEATS + 1;
	flki_state_note(&st, FLK_EV_QUEUED, 0, 1);
	e = last();
	ok(e->kind == FLK_EV_QUEUED && e->seats == 0 && e->limit == FLK_SEATS + 1,
	   "below a limit under which seats mean something");
	slots[0].seats = UINT64_C(0x8000000100000040);
	flki_state_note(&st, FLK_EV_GRANTED, 0, 0);
	e = last();
	ok(e->kind == FLK_EV_GRANTED && e->seats == slots[0].seats && e->seat == 6 && e->code == 0,
	   "a grant has all seats");
	flki_state_note(&st, FLK_EV_GREW, 0, 2);
	e = last();
	ok(e->kind == FLK_EV_GREW && e->seats == slots[0].seats && e->limit == FLK_SEATS &&
	       e->seat == 0 && e->code == 2,
	   "and so has a permit that grew, below the limit up to which there are sets");
	slots[0].limit = 9;
	flki_state_note(&st, FLK_EV_GREW, 0, 2);
	e = last();
	ok(e->kind == FLK_EV_GREW && e->seats == slots[0].seats && e->limit == 9 && e->weight == 3,
	   "or below its own");
	slots[0].seats = 0;
	flki_state_note(&st, FLK_EV_GREW, 0, 2);
	e = last();
	ok(e->kind == FLK_EV_GREW && e->seats == 0 && e->limit == 9 && e->seat == 6 && e->code == 2,
	   "one without a set has its seat");
	slots[0].seat = 99;
	flki_state_note(&st, FLK_EV_GRANTED, 0, 0);
	e = last();
	ok(e->kind == FLK_EV_GRANTED && e->seats == 0 && e->seat == 99, "or one");
	slots[0].took = (struct took){ .peak_kib = UINT32_MAX, .cpu_ms = 7 };
	flki_state_note(&st, FLK_EV_RELEASED, 0, 256);
	e = last();
	ok(e->kind == FLK_EV_RELEASED && e->code == 256 && e->seat == 99 && e->limit == 0,
	   "a release has a seat, and no limit");
	ok(e->memory == UINT32_MAX * UINT64_C(1024) && e->cpu_ns == 7 * MS, "and what it took");
	slots[0].evictor_pid = 8;
	slots[0].evictor_uid = 9;
	flki_state_note(&st, FLK_EV_EVICTED, 0, -FLK_EVICTED);
	e = last();
	ok(e->pid == 8 && e->uid == 9 && e->ticket == 5, "an eviction has the process that did it");
}

static void
test_steering(void)
{
	const struct flk_gated gated = { .waits = true,
					 .when = "disk:/a/path/that/is/long>1234567890",
					 .value = UINT64_MAX };
	const struct flk_event *e;

	begin_ring();
	st.me = 0;
	flki_state_note_steering(&st, FLK_EV_OVERRIDE, -1);
	e = last();
	ok(e->ticket == 0 && e->code == -1 && e->pid == 123 && e->uid == 45 && e->weight == 0 &&
	       e->command[0] == '\0',
	   "an operator's event has the operator, and no taker");
	page.pace = (struct pace_words){ UINT64_C(2) << 48 | 3, 4, 5, 6 };
	flki_state_note_pace(&st, FLK_SET_RATE);
	e = last();
	ok(e->kind == FLK_EV_PACED && e->pace.burst == 2 && e->pace.interval_ns == 3 &&
	       e->pace.stagger_ns == 4 && e->pace.ramp_period_ns == 5 * MS &&
	       e->pace.ramp_idle_ns == 6,
	   "a pace is whole");
	ok(e->weight == 0 && e->seat == 0 && e->limit == 0 && e->command[0] == '\0' &&
	       e->when[0] == '\0' && e->value == 0,
	   "and nothing else");
	flki_state_note_gate(&st, "mem>4G psi.io<20 running<16 disk:/>1G");
	e = last();
	ok(e->kind == FLK_EV_GATE && strcmp(e->when, "mem>4G psi.io<20 runnin") == 0 &&
	       e->value == 0 && e->code == 0 && e->weight == 0 && e->command[0] == '\0',
	   "of a gate there is as much as there is room for");
	is(ring[page.events - 1].when[sizeof(ring->when) - 1], '\0', "with its end");
	flki_state_note_gate(&st, "mem>4G psi.io<20 runnin");
	ok(strcmp(last()->when, "mem>4G psi.io<20 runnin") == 0, "or all");
	flki_state_note_gated(&st, 0, &gated);
	e = last();
	ok(e->kind == FLK_EV_GATED && strcmp(e->when, "disk:/a/path/that/is/lo") == 0 &&
	       e->value == UINT64_MAX && e->ticket == 5 && e->code == 0,
	   "and so of what a gate waits for");
	is(ring[page.events - 1].when[sizeof(ring->when) - 1], '\0', "with its end");
}

static void
test_room(void)
{
	struct event untouched;

	begin_ring();
	page.event_room = 1;
	memset(&ring[1], 0x55, sizeof(ring[1]));
	untouched = ring[1];
	flki_state_note(&st, FLK_EV_QUEUED, 0, 0);
	flki_state_note(&st, FLK_EV_LEFT, 0, 0);
	ok(page.events == 1 && memcmp(&ring[1], &untouched, sizeof(untouched)) == 0,
	   "an event for which there is no disk space is lost");
	page.event_room = 2;
	flki_state_note(&st, FLK_EV_LEFT, 0, 0);
	is(page.events, 2, "and the next is not");
	st.history = NULL;
	flki_state_note(&st, FLK_EV_LEFT, 0, 0);
	is(page.events, 2, "without a history nothing is written");
}

/* ---- times ---- */

static unsigned
bucket_of(uint64_t ns)
{
	struct flk_times t;
	unsigned i;

	memset(&t, 0, sizeof(t));
	flki_state_count_time(&t, 1000, 1000 + ns);
	for (i = 0; i < FLK_BUCKETS && t.count[i] == 0; i++)
		;
	return t.sum_ns == ns ? i : 999;
}

static void
test_times(void)
{
	struct flk_times t;

	is(bucket_of(0), 0, "no time");
	is(bucket_of(MS), 0, "up to a millisecond");
	is(bucket_of(MS + 1), 1, "or more");
	is(bucket_of(4 * MS), 1, "up to four");
	is(bucket_of(4 * MS + 1), 2, "or more");
	is(bucket_of(MS << 28), 14, "up to the last bound");
	is(bucket_of((MS << 28) + 1), 15, "or more");
	is(bucket_of(UINT64_MAX - 1000), 15, "however much");
	memset(&t, 0, sizeof(t));
	flki_state_count_time(&t, 1000, 900);
	ok(t.count[0] == 1 && t.sum_ns == 0, "a clock that goes back says nothing");
	flki_state_count_time(&t, 0, 3 * MS);
	flki_state_count_time(&t, 0, 2 * MS);
	ok(t.count[1] == 2 && t.sum_ns == 5 * MS, "times are counted, and added up");
}

/* ---- reading ---- */

static void
write_events(uint64_t n)
{
	for (; n > 0; n--)
		flki_state_note(&st, FLK_EV_LEFT, 0, (int32_t)page.events);
}

static void
test_reading(void)
{
	size_t n;

	begin_ring();
	write_events(FLK_HISTORY);
	n = flki_local_history(&limiter, 0, seen, EVENTS);
	ok(n == FLK_HISTORY && seen[0].number == 1 && seen[n - 1].number == FLK_HISTORY,
	   "so many are remembered");
	write_events(EVENTS);
	n = flki_local_history(&limiter, 0, seen, EVENTS);
	ok(n == FLK_HISTORY && seen[0].number == EVENTS + 1 && seen[0].code == EVENTS &&
	       seen[n - 1].number == page.events,
	   "the last of all that were written");
	n = flki_local_history(&limiter, page.events - 2, seen, EVENTS);
	ok(n == 2 && seen[0].number == page.events - 1, "or those that are new");
	is(flki_local_history(&limiter, page.events, seen, EVENTS), 0, "if there are any");
	is(flki_local_history(&limiter, UINT64_MAX, seen, EVENTS), 0, "or ever will be");
	n = flki_local_history(&limiter, 0, seen, 3);
	ok(n == 3 && seen[0].number == EVENTS + 1, "or as many as there is room for");
}

/* The first look at the ring lets a writer run: so many events, and then the look is made. */
static uint64_t writes;

static void
let_write(int sig)
{
	(void)sig;
	mprotect(ring, ring_size(), PROT_READ | PROT_WRITE);
	write_events(writes);
}

static size_t
read_while(uint64_t n, uint64_t from, size_t room)
{
	writes = n;
	mprotect(ring, ring_size(), PROT_NONE);
	return flki_local_history(&limiter, from, seen, room);
}

static bool
are_right(size_t n, uint64_t first)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (seen[i].number != first + i || seen[i].code != (int32_t)(first + i - 1))
			return false;
	return true;
}

/* The reader begins with event 1: where that is written over, it is left out, and no other. */
static void
test_overtaken(void)
{
	struct sigaction act = { .sa_handler = let_write }, segv, bus;
	size_t n;

	sigaction(SIGSEGV, &act, &segv);
	sigaction(SIGBUS, &act, &bus);
	begin_ring();
	write_events(10);
	n = read_while(EVENTS - 11, 0, EVENTS);
	ok(n == 10 && are_right(n, 1), "what may not be written over yet is read");
	begin_ring();
	write_events(10);
	n = read_while(EVENTS - 10, 0, EVENTS);
	ok(n == 9 && are_right(n, 2), "what may be is left out");
	begin_ring();
	write_events(10);
	n = read_while(EVENTS - 7, 0, EVENTS);
	ok(n == 6 && are_right(n, 5), "and more of it");
	begin_ring();
	write_events(10);
	is(read_while(EVENTS, 0, EVENTS), 0, "or all");
	begin_ring();
	write_events(10);
	is(read_while(3 * EVENTS, 0, EVENTS), 0, "however much was written");
	begin_ring();
	write_events(10);
	n = read_while(EVENTS - 6, 2, 4);
	ok(n == 1 && are_right(n, 6), "also of a part");
	sigaction(SIGSEGV, &segv, NULL);
	sigaction(SIGBUS, &bus, NULL);
}

int
main(void)
{
	begin();
	ring = mmap(NULL, ring_size(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (ring == MAP_FAILED)
		tap_bail("mmap");
	test_kinds();
	test_steering();
	test_room();
	test_times();
	test_reading();
	test_overtaken();
	return tap_done();
}
