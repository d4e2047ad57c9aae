/* SPDX-License-Identifier: ISC */
/*
 * gating.c - the gate, on a clock of our own; and the words of its conditions.
 *
 * Takers come and go at random times, and the machine has room and has none.  A waiter visits the
 * lock when it is woken, and when lib/gate.c says that it is to look; it measures only then.  Waiters
 * are stopped, go on, and are killed; the taker that has the lock is killed before and after each
 * store that counts.  What starts when is held against the manual: after a look that found room, one
 * for each look, and none that was made before the last start had settled; or when patience is over.
 * And where there is room, the head starts.
 */
#include "../helpers/common.h"

#include <string.h>

#include "condition.h"
#include "deadly.h"
#include "gate.c"
#include "repair.c"
#include "state.c"

#define SLOTS 16
#define BEGIN UINT64_C(100000000000000)

static union {
	struct header h;
	char page[HEADER];
} page;

static struct header *const file = &page.h;
static struct slot slots[SLOTS];
static struct state st;

/* A taker's process. */
static struct {
	bool woken, stopped, dead, first;
	uint64_t due_ns;
} process[SLOTS];

/* What the manual is about. */
static struct {
	bool room;
	uint64_t room_ns; /* since when */
	uint64_t settle_ns, patience_ns;
	uint64_t last_ns, idle_ns;      /* the last start, and since when nothing is held */
	uint64_t ticket, starts, looks; /* the last that started */
	uint64_t stuck_ns; /* since when the head that runs waits although there is room */
} book;

static enum fate
fate(void *ctx, uint32_t i)
{
	(void)ctx;
	return process[i].dead ? DEAD : LIVES;
}

static void
wake(void *ctx, uint32_t i)
{
	(void)ctx;
	process[i].woken = true;
}

static void
reset(void)
{
	static const uint64_t settles[] = { 0, SECOND / 2, 5 * SECOND };
	struct flk_gate gate = { .when = "x" };

	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	memset(process, 0, sizeof(process));
	memset(&book, 0, sizeof(book));
	file->nslots = SLOTS;
	file->waiting = file->holders = (struct list){ NIL, NIL, 0 };
	file->override = FLK_AUTO;
	st = (struct state){ .h = file,
			     .slots = slots,
			     .n = SLOTS,
			     .me = NIL,
			     .now_ns = BEGIN,
			     .world = { .fate = fate, .wake = wake } };
	book.settle_ns = gate.settle_ns = settles[random_below(3)];
	book.patience_ns = gate.patience_ns = random_below(2) ? UINT64_MAX : 20 * SECOND;
	book.idle_ns = book.room_ns = book.stuck_ns = BEGIN;
	flki_gate_set(&st, &gate);
}

/* ---- the book ---- */

static uint32_t
held(void)
{
	uint32_t i, n = 0;

	for (i = 0; i < SLOTS; i++)
		n += slots[i].state == HELD;
	return n;
}

/* NULL, or why what was granted in this visit must not have been. */
static const char *
audit(uint32_t before)
{
	uint64_t now = st.now_ns;
	uint32_t i, next = NIL, n = 0;

	for (i = 0; i < SLOTS; i++) {
		if (slots[i].state != HELD || slots[i].ticket <= book.ticket)
			continue;
		next = i;
		n++;
	}
	if (n == 0)
		return flki_state_check(&st);
	if (n > 1)
		return "one look admitted two";
	if (book.looks == 0 &&
	    (before > 0 || book.patience_ns == UINT64_MAX || now < book.idle_ns + book.patience_ns))
		return "one started without a look";
	if (book.looks > 0 && !book.room && now < book.idle_ns + book.patience_ns)
		return "one started where there is no room";
	if (book.looks > 0 && book.room && book.last_ns != 0 &&
	    now < book.last_ns + book.settle_ns &&
	    (before > 0 || now < book.idle_ns + book.patience_ns))
		return "one started before the last had settled";
	book.ticket = slots[next].ticket;
	book.last_ns = book.stuck_ns = now;
	book.starts++;
	return flki_state_check(&st);
}

/* ---- what takers do ---- */

static void
take_reading(bool measures)
{
	st.reading = (struct reading){ .gate = 0 };
	book.looks = measures;
	if (measures)
		st.reading = (struct reading){ .gate = file->gate.is,
					       .at_ns = st.now_ns,
					       .failed = !book.room };
	flki_gate_note_reading(&st);
}

static bool
measures(uint32_t i)
{
	if (slots[i].state != WAITING)
		return file->waiting.head == NIL;
	return st.now_ns >= process[i].due_ns &&
	       flki_gate_wants_look(file, st.now_ns, process[i].first);
}

static void
plan(uint32_t i)
{
	uint32_t head = file->waiting.head;

	process[i].due_ns = UINT64_MAX;
	if (slots[i].state != WAITING)
		return;
	process[i].first = i == head;
	if (i == head || (head != NIL && i == slots[head].next))
		process[i].due_ns = flki_gate_look(&st, &slots[head], i == head);
}

static void
act(uint32_t i)
{
	process[i].woken = false;
	st.me = i;
	take_reading(measures(i));
	if (slots[i].state == FREE || slots[i].state == IDLE) {
		process[i].stopped = process[i].dead = false;
		slots[i].state = IDLE;
		slots[i].least = slots[i].most = 1 + random_below(2);
		slots[i].limit = 3;
		flki_state_enqueue(&st, i, TAKER, NULL);
		if (slots[i].state == WAITING)
			flki_state_reap_watched(&st, i);
	} else if (slots[i].state == HELD) {
		flki_state_release(&st, i);
	} else if (random_below(20) == 0 && !measures(i)) {
		flki_state_leave(&st, i);
	} else {
		flki_state_reap_watched(&st, i);
	}
	plan(i);
}

/* SIGKILL, SIGSTOP or SIGCONT; a death wakes the taker that watches. */
static void
signal_one(uint32_t i)
{
	if (slots[i].state != WAITING || process[i].dead)
		return;
	if (random_below(4) > 0) {
		process[i].stopped = !process[i].stopped;
		return;
	}
	process[i].dead = true;
	if (slots[i].next != NIL)
		process[slots[i].next].woken = true;
}

/* The process that goes on next, by itself: one that was woken, or whose time comes first. */
static uint32_t
next_process(uint64_t *at)
{
	uint32_t i, found = NIL;

	for (i = 0; i < SLOTS; i++) {
		uint64_t when = process[i].woken ? st.now_ns : process[i].due_ns;
		if (slots[i].state != WAITING || process[i].stopped || process[i].dead)
			continue;
		if (when < st.now_ns)
			when = st.now_ns;
		if (when != UINT64_MAX && when <= *at) {
			*at = when;
			found = i;
		}
	}
	return found;
}

/* With room for it, the head must not wait longer than looks take; nor for a stopped one. */
static const char *
is_stuck(uint64_t at)
{
	uint32_t head = file->waiting.head;
	uint64_t since = book.room_ns > book.last_ns + book.settle_ns
			     ? book.room_ns
			     : book.last_ns + book.settle_ns;
	const struct slot *s = &slots[head == NIL ? 0 : head];
	bool second =
	    head != NIL && s->next != NIL && !process[s->next].stopped && !process[s->next].dead;

	if (head == NIL || !book.room || (held() > 0 && file->used + s->weight > 3) ||
	    (process[head].stopped || process[head].dead)) {
		if (head == NIL || !book.room || !second ||
		    (held() > 0 && file->used + s->weight > 3)) {
			book.stuck_ns = at;
			return NULL;
		}
	}
	if (since < book.stuck_ns)
		since = book.stuck_ns;
	return at > since + 4 * SECOND + SECOND / 10 ? "there is room, and the head does not start"
						     : NULL;
}

/* False: it was killed meanwhile. */
__attribute__((noinline)) static bool
survives(uint32_t i, bool deadly)
{
	places_left = deadly && random_below(4) == 0 ? (long)random_below(24) : -1;
	if (setjmp(death) != 0)
		return false;
	act(i);
	places_left = -1;
	return true;
}

/* One thing happens: at random, or because its time has come.  NULL, or what is wrong. */
static const char *
step(bool deadly)
{
	uint64_t at =
	    st.now_ns + random_below(3) * random_below(2) * (uint64_t)random_below(2000000000);
	uint32_t i = next_process(&at), before = held();
	const char *stuck = is_stuck(at);
	bool by_itself = i != NIL, killed;

	if (stuck != NULL)
		return stuck;
	st.now_ns = at;
	if (!by_itself) {
		i = random_below(SLOTS);
		if (random_below(6) == 0) {
			book.room = !book.room;
			book.room_ns = at;
			return NULL;
		}
		if (slots[i].state == WAITING) {
			signal_one(i);
			book.stuck_ns = at;
			return NULL;
		}
	}
	killed = !survives(i, deadly);
	places_left = -1;
	if (killed) {
		process[i].dead = slots[i].state != HELD; /* a holder's command goes on */
		st.me = NIL;
		st.reading.gate = 0;
		if (!flki_state_rebuild(&st))
			return "it can't be repaired";
		book.stuck_ns = at;
	}
	stuck = audit(before);
	if (before > 0 && held() == 0)
		book.idle_ns = at;
	return stuck;
}

static void
play(unsigned stories, bool deadly)
{
	const char *why = NULL;
	unsigned i, k = 0;
	uint64_t starts = 0;

	for (i = 0; i < stories && why == NULL; i++) {
		random_seed(i + 1);
		reset();
		for (k = 0; k < 600 && why == NULL; k++)
			why = step(deadly);
		starts += book.starts;
	}
	ok(why == NULL, "%s: %u stories, %llu starts", deadly ? "with deaths" : "without deaths", i,
	   (unsigned long long)starts);
	if (why != NULL)
		tap_note("story %u, step %u: %s", i, k, why);
	ok(starts > stories * 5, "and there are starts");
}

/* ---- words ---- */

static void
test_words(void)
{
	static const struct {
		const char *text;
		int got;
		enum condition_kind kind;
		uint64_t bound;
	} words[] = {
		{ "mem>4G", 1, MEM, UINT64_C(4) << 30 },
		{ "mem>1.5K", 1, MEM, 1536 },
		{ "mem>2GiB,", 1, MEM, UINT64_C(2) << 30 },
		{ " ,mem>512", 1, MEM, 512 },
		{ "psi.cpu<50", 1, PSI_CPU, 5000 },
		{ "psi.mem<0.5%", 1, PSI_MEM, 50 },
		{ "psi.io<100", 1, PSI_IO, 10000 },
		{ "running<16", 1, RUNNING, 16 },
		{ "disk:/a/b>10T", 1, DISK, UINT64_C(10) << 40 },
		{ "", 0, MEM, 0 },
		{ " , ", 0, MEM, 0 },
		{ "mem<4G", -1, MEM, 0 },
		{ "mem>", -1, MEM, 0 },
		{ "mem>4X", -1, MEM, 0 },
		{ "mem>-1", -1, MEM, 0 },
		{ "mem>99999999999999999999", -1, MEM, 0 },
		{ "mem>999999999999999T", -1, MEM, 0 },
		{ "mem>4G5", -1, MEM, 0 },
		{ "mem:/a>4G", -1, MEM, 0 },
		{ "disk>4G", -1, DISK, 0 },
		{ "disk:a>4G", -1, DISK, 0 },
		{ "psi.cpu<0", -1, PSI_CPU, 0 },
		{ "psi.cpu<100.01", -1, PSI_CPU, 0 },
		{ "psi<5", -1, PSI_CPU, 0 },
		{ "running<1.5", -1, RUNNING, 0 },
		{ "memory", -1, MEM, 0 },
	};
	char wrong[CONDITION_TEXT];
	struct condition c;
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const char *text = words[i].text;
		int got = flki_condition_next(&text, &c, wrong);
		is(got, words[i].got, "'%s'", words[i].text);
		if (got == 1)
			ok(c.kind == words[i].kind && c.bound == words[i].bound, "as it is meant");
	}
	ok(!flki_condition_holds(&c, UINT64_MAX), "what is not known does not hold");
}

/* The head's own question, where there is no gate: it is left unanswered until its patience ends. */
static void
test_question(void)
{
	static const uint32_t seconds[] = { 0, 1, 7, FLK_MAX_UNITS };
	unsigned i;

	for (i = 0; i < 4; i++) {
		reset();
		flki_gate_set(&st, &(struct flk_gate){ .when = "" });
		st.reading.gate = 0;
		slots[0].state = IDLE;
		slots[0].least = slots[0].most = slots[0].limit = 1;
		slots[0].asks = 1 + seconds[i];
		st.me = 0;
		if (seconds[i] > 0) {
			flki_state_enqueue(&st, 0, TAKER, NULL);
			ok(flki_gate_asks(&st, &slots[0]), "a head asks");
			is(flki_gate_look(&st, &slots[0], true), BEGIN + seconds[i] * SECOND,
			   "and waits for an answer for %u s", seconds[i]);
			st.now_ns = BEGIN + seconds[i] * SECOND - 1;
			flki_state_grant(&st);
			is(slots[0].state, WAITING, "not granted a nanosecond before");
			st.now_ns++;
			flki_state_grant(&st);
		} else {
			flki_state_enqueue(&st, 0, TAKER, NULL);
			flki_state_grant(&st);
		}
		is(slots[0].state, HELD, "but then");
	}
	reset();
	flki_gate_set(&st, &(struct flk_gate){ .when = "" });
	slots[0].state = IDLE;
	slots[0].least = slots[0].most = slots[0].limit = 1;
	slots[0].asks = UINT32_MAX;
	st.me = 0;
	flki_state_enqueue(&st, 0, TAKER, NULL);
	is(flki_gate_look(&st, &slots[0], true), UINT64_MAX, "or for ever");
	st.now_ns = UINT64_MAX / 2;
	flki_state_grant(&st);
	is(slots[0].state, WAITING, "without a permit");
	st.answered = true;
	flki_state_grant(&st);
	is(slots[0].state, HELD, "until there is an answer");
}

int
main(void)
{
	begin();
	test_words();
	test_question();
	play(3000, false);
	play(3000, true);
	return tap_done();
}
