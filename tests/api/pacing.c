/* SPDX-License-Identifier: ISC */
/*
 * pacing.c - rate, stagger and ramp, on a clock of our own.
 *
 * Takers come and go at random times; the first in the line looks again when lib/pace.c says so,
 * and only then.  What was granted when is held against the definitions in the manual, which
 * know of windows of time and not of words in a header.  The manual's time is the machine's; each
 * who looks may be in a time namespace, with a clock days ahead of it or behind.  Whoever has the
 * lock may be killed before and after each store that counts.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <string.h>

#include "deadly.h"
#include "pace.c"
#include "repair.c"
#include "state.c"

#define SLOTS 24
#define MS    UINT64_C(1000000)
#define DAY   INT64_C(86400000000000)

static union {
	struct header h;
	char page[HEADER];
} page;

static struct header *const file = &page.h;
static struct slot slots[SLOTS];
static struct state st;

static uint64_t
machine_ns(uint64_t own_ns)
{
	return own_ns - (uint64_t)st.ahead_ns;
}

/* The next look is by a clock that is so far ahead; at a time of the machine's. */
static void
look_from(int64_t ahead_ns, uint64_t at)
{
	st.ahead_ns = ahead_ns;
	st.now_ns = at + (uint64_t)ahead_ns;
	flki_pace_keep(&st);
}

/* What the manual says, in other words: a bucket that fills, a last start, a capacity. */
static struct {
	struct flk_pace pace;
	uint64_t limit, used, held; /* weights, and how many */
	uint64_t level_ns, filled_ns;
	uint64_t last_ns, ramp_ns, idle_ns;
	uint64_t starts, ticket;
} book;

static void
reset(uint64_t now)
{
	memset(&page, 0, sizeof(page));
	memset(&book, 0, sizeof(book));
	st = empty_state(file, slots, SLOTS);
	st.now_ns = now;
}

/* ---- the book ---- */

static void
fill(uint64_t now)
{
	uint64_t most = book.pace.burst * book.pace.interval_ns;

	book.level_ns += now - book.filled_ns;
	if (book.level_ns > most)
		book.level_ns = most;
	book.filled_ns = now;
}

static uint64_t
capacity(uint64_t now)
{
	if (book.pace.ramp_from == 0)
		return UINT64_MAX;
	if (book.held == 0 && now - book.idle_ns >= book.pace.ramp_idle_ns)
		return book.pace.ramp_from;
	return book.pace.ramp_from +
	       (now - book.ramp_ns) / book.pace.ramp_period_ns * book.pace.ramp_step;
}

static bool
may_start(uint64_t now, uint64_t weight)
{
	uint64_t room = capacity(now) < book.limit ? capacity(now) : book.limit;

	fill(now);
	if (book.pace.interval_ns != 0 && book.level_ns < book.pace.interval_ns)
		return false;
	if (book.last_ns != 0 && now - book.last_ns < book.pace.stagger_ns)
		return false;
	return book.held == 0 || book.used + weight <= room;
}

static void
enter_start(uint64_t now, uint64_t weight)
{
	if (book.pace.interval_ns != 0)
		book.level_ns -= book.pace.interval_ns;
	if (book.held == 0 && now - book.idle_ns >= book.pace.ramp_idle_ns)
		book.ramp_ns = now;
	book.last_ns = now;
	book.used += weight;
	book.held++;
	book.starts++;
}

static void
enter_end(uint64_t now, uint64_t weight)
{
	book.used -= weight;
	if (--book.held == 0)
		book.idle_ns = now;
}

/* Those that were granted since the last look, by ticket; and whether the next ought to be. */
static const char *
audit(bool killed)
{
	uint64_t now = machine_ns(st.now_ns);
	uint32_t i, next;

	for (;;) {
		next = NIL;
		for (i = 0; i < SLOTS; i++)
			if (slots[i].state == HELD && slots[i].ticket > book.ticket &&
			    (next == NIL || slots[i].ticket < slots[next].ticket))
				next = i;
		if (next == NIL)
			break;
		if (!may_start(now, slots[next].weight))
			return "one starts too early";
		enter_start(now, slots[next].weight);
		book.ticket = slots[next].ticket;
	}
	if (file->starting != 0)
		return "a start is half counted";
	if (!killed && file->waiting.head != NIL &&
	    may_start(now, slots[file->waiting.head].weight))
		return "the head waits beyond its time";
	return flki_state_check(&st);
}

/* ---- what takers do ---- */

static bool
is_idle(uint32_t i)
{
	return slots[i].state == FREE || slots[i].state == IDLE;
}

static void
act(uint32_t i)
{
	st.me = i;
	if (is_idle(i)) {
		slots[i].state = IDLE;
		slots[i].least = slots[i].most = 1 + random_below(3);
		slots[i].limit = (uint32_t)book.limit;
		flki_state_enqueue(&st, i, TAKER, NULL);
	} else if (slots[i].state == HELD) {
		/* First in the book: what it makes room for may start at once. */
		enter_end(machine_ns(st.now_ns), slots[i].weight);
		flki_state_release(&st, i);
	} else if (random_below(8) == 0) {
		flki_state_leave(&st, i);
	} else {
		flki_state_reap_watched(&st, i);
	}
}

/* When the first would wake by itself. */
static uint64_t
due(void)
{
	uint32_t first = file->waiting.head;

	return first == NIL ? UINT64_MAX : flki_pace_look(&st, &slots[first]);
}

/* One thing happens: at random, or because its time has come.  NULL, or what is wrong. */
static const char *
step(bool deadly)
{
	static const int64_t clocks[] = { 0, 0, DAY, -DAY / 2 };
	uint64_t now = machine_ns(st.now_ns);
	uint64_t at = now + random_below(4) * random_below((uint32_t)(40 * MS));
	uint32_t i = random_below(SLOTS);
	bool killed = false;

	if (due() != UINT64_MAX && machine_ns(due()) <= at) {
		at = machine_ns(due());
		i = file->waiting.head;
	}
	if (at > now && file->waiting.head != NIL &&
	    may_start(at - 1, slots[file->waiting.head].weight))
		return "the head's time had come before it woke";
	look_from(clocks[random_below(4)], at);
	/* A release is in the book before it is in the file; there it is not cut short. */
	places_left =
	    deadly && slots[i].state != HELD && random_below(4) == 0 ? (long)random_below(24) : -1;
	if (setjmp(death) == 0) {
		if (slots[i].state == WAITING && i == file->waiting.head)
			flki_state_reap_watched(&st, st.me = i);
		else
			act(i);
	} else {
		killed = true;
	}
	places_left = -1;
	if (killed) {
		st.me = NIL;
		if (!flki_state_rebuild(&st))
			return "it can't be repaired";
	}
	return audit(killed);
}

static void
choose_pace(void)
{
	struct flk_pace *p = &book.pace;
	unsigned which = 1 + random_below(7);

	if (which & FLK_SET_RATE) {
		p->interval_ns = 1 + random_below((uint32_t)(50 * MS));
		p->burst = 1 + random_below(4);
	}
	if (which & FLK_SET_STAGGER)
		p->stagger_ns = random_below((uint32_t)(30 * MS));
	if (which & FLK_SET_RAMP) {
		p->ramp_from = 1 + random_below(3);
		p->ramp_step = 1 + random_below(2);
		p->ramp_period_ns = (1 + random_below(300)) * MS;
		p->ramp_idle_ns = random_below((uint32_t)(200 * MS));
	}
	book.limit = 3 + random_below(10);
	book.level_ns = book.pace.burst * book.pace.interval_ns;
	book.filled_ns = book.ramp_ns = machine_ns(st.now_ns);
	flki_pace_set(&st, p, which);
}

static void
play(unsigned stories, bool deadly)
{
	const char *why = NULL;
	unsigned i, steps, k;
	uint64_t starts = 0;

	for (i = 0; i < stories && why == NULL; i++) {
		random_seed(i + 1);
		reset(UINT64_C(100000000000000) + random_below(1000000));
		choose_pace();
		steps = 400;
		for (k = 0; k < steps && why == NULL; k++)
			why = step(deadly);
		starts += book.starts;
	}
	ok(why == NULL, "%s: %u stories, %llu starts", deadly ? "with deaths" : "without deaths", i,
	   (unsigned long long)starts);
	if (why != NULL)
		tap_note("story %u, step %u: %s", i, k, why);
}

/* ---- by hand ---- */

static unsigned
starts_within(uint64_t span)
{
	uint64_t end = st.now_ns + span;
	uint64_t before = file->granted;
	uint32_t i;

	while (due() <= end && file->waiting.head != NIL) {
		st.now_ns = due();
		i = file->waiting.head;
		flki_state_reap_watched(&st, st.me = i);
		flki_state_release(&st, i);
		slots[i].limit = 100;
		flki_state_enqueue(&st, i, TAKER, NULL);
	}
	st.now_ns = end;
	return (unsigned)(file->granted - before);
}

static void
comes(uint32_t i, uint32_t weight)
{
	slots[i].state = IDLE;
	slots[i].least = slots[i].most = weight;
	slots[i].limit = 100;
	flki_state_enqueue(&st, i, TAKER, NULL);
}

/* What one rate made of a start is no debt under another. */
static void
a_new_pace(void)
{
	struct flk_pace p = { .interval_ns = 3600000 * MS, .burst = 1 };

	reset(UINT64_C(1000000000000));
	flki_pace_set(&st, &p, FLK_SET_RATE);
	comes(0, 1);
	comes(1, 1);
	is(due(), st.now_ns + 3600000 * MS, "one an hour");
	p.interval_ns = 10 * MS;
	flki_pace_set(&st, &p, FLK_SET_RATE);
	is(due(), st.now_ns + 10 * MS, "then a hundred a second, and the hour is forgotten");
	file->paced.free_ns = file->paced.last_ns = UINT64_MAX;
	ok(flki_state_rebuild(&st) && due() == st.now_ns + 10 * MS, "a repair mends what can't be");
}

/* The first runs alone, and the ramp goes on from there; by one timer, to when the next fits. */
static void
a_ramp_below_what_is_withheld(void)
{
	struct flk_pace p = { .ramp_from = 1, .ramp_step = 2, .ramp_period_ns = 10 * MS };

	reset(UINT64_C(1000000000000));
	file->withheld = 2;
	flki_pace_set(&st, &p, FLK_SET_RAMP);
	comes(0, 1);
	is(file->granted, 1, "a ramp from 1 with 2 withheld: one runs");
	comes(1, 4);
	is(due(), st.now_ns + 30 * MS, "and 4 more when the capacity is 7");
	file->paused = 1;
	is(due(), UINT64_MAX, "time brings nothing while it is paused");
	file->paused = 0;
	st.now_ns = due();
	flki_state_reap_watched(&st, st.me = 1);
	is(file->granted, 2, "which it then is");
}

/*
 * Where the system does not tell by how much a clock is ahead, each takes its own for the
 * machine's: nobody waits for longer than an empty bucket takes, after a start in whatever time.
 */
static void
clocks_that_nobody_knows(int64_t shift, const char *where)
{
	struct flk_pace p = { .interval_ns = 10 * MS,
			      .burst = 3,
			      .stagger_ns = 20 * MS,
			      .ramp_from = 1,
			      .ramp_step = 1,
			      .ramp_period_ns = 10 * MS,
			      .ramp_idle_ns = 10 * MS };
	uint64_t start = UINT64_C(1000000000000000);
	uint32_t i;

	reset(start);
	flki_pace_set(&st, &p, FLK_SET_RATE | FLK_SET_STAGGER | FLK_SET_RAMP);
	for (i = 0; i < 10; i++) {
		look_from(0, start + i * 40 * MS + (i % 2 ? (uint64_t)shift : 0));
		comes(i, 1);
		if (slots[i].state != HELD) {
			look_from(0, due() < st.now_ns + 40 * MS ? due() : st.now_ns + 40 * MS);
			flki_state_reap_watched(&st, st.me = i);
		}
		if (slots[i].state != HELD)
			break;
	}
	is(i, 10, "by clocks that nobody knows to be %s, each starts within 40 ms", where);
}

static void
by_hand(void)
{
	struct flk_pace p = { .interval_ns = 2000 * MS, .burst = 5, .stagger_ns = 0 };
	uint32_t i;

	reset(UINT64_C(1000000000000));
	flki_pace_set(&st, &p, FLK_SET_RATE);
	for (i = 0; i < 20; i++) {
		slots[i].state = IDLE;
		slots[i].least = slots[i].most = 1;
		slots[i].limit = 100;
		flki_state_enqueue(&st, i, TAKER, NULL);
	}
	is(file->granted, 5, "30/m:5: five at once");
	is(starts_within(60000 * MS), 30, "and thirty in the next minute");
	is(starts_within(60000 * MS), 30, "and in the one after that");
	p.stagger_ns = 3000 * MS;
	flki_pace_set(&st, &p, FLK_SET_STAGGER);
	is(starts_within(60000 * MS), 20, "with a stagger of 3 s twenty");
	p.interval_ns = 0;
	flki_pace_set(&st, &p, FLK_SET_RATE);
	is(starts_within(60000 * MS), 20, "without the rate the same");
	a_new_pace();
	a_ramp_below_what_is_withheld();
	clocks_that_nobody_knows(10 * DAY, "days ahead");
	clocks_that_nobody_knows(-10 * DAY, "days behind");
	ok(flki_pace_check(&p, 0) != 0 && flki_pace_check(&p, 8) != 0, "nothing is not a pace");
	p = (struct flk_pace){ .interval_ns = UINT64_MAX, .burst = 1 };
	ok(flki_pace_check(&p, FLK_SET_RATE) != 0, "an interval that does not fit is refused");
	p = (struct flk_pace){ .ramp_from = 1, .ramp_step = 1, .ramp_period_ns = 100 };
	ok(flki_pace_check(&p, FLK_SET_RAMP) != 0, "and a ramp's period below 1 ms");
}

int
main(void)
{
	begin();
	by_hand();
	play(500, false);
	play(1500, true);
	return tap_done();
}
