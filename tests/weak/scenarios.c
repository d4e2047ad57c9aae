/* SPDX-License-Identifier: ISC */
/*
 * scenarios.c - what the threads of the explorer do, each a process with a limiter file open, and
 * what must hold when all have ended.
 */
#include "weak.h"

#include <errno.h>
#include <string.h>

#include "clock.h"

static struct flk limiters[ALL];
static bool holding[ALL]; /* as the threads know it */

#define LIMITER (&limiters[now_running])
#define TAKER_  (&shared.taker[now_running])
#define H       ((struct header *)(void *)shared.file)
#define SLOTS   ((struct slot *)(void *)(shared.file + SLOTS_AT))

/* A new limiter, which all threads have open. */
static void
open_all(void)
{
	unsigned i;

	H->magic = MAGIC;
	H->nslots = FIRST_SLOTS;
	H->event_room = EVENTS;
	H->override = FLK_AUTO;
	H->waiting = H->holders = (struct list){ NIL, NIL, 0 };
	for (i = 0; i < ALL; i++) {
		struct flk *f = &limiters[i];
		*f = (struct flk){ .file = { .fd = -1 } };
		f->file.h = H;
		f->file.history = (struct event *)(void *)(shared.file + HEADER);
		f->file.slots = SLOTS;
		f->file.backed = FIRST_SLOTS;
		shared.taker[i].flk = f;
		shared.taker[i].slot = NIL;
		shared.taker[i].guard_fd = -1;
	}
	memset(holding, 0, sizeof(holding));
}

static void
claim(void)
{
	if (flki_slot_claim(TAKER_) != 0)
		failed("no slot");
}

/* ---- setups: the first thread's opens the limiter ---- */

static void
setup_none(void)
{
	if (now_running == 1)
		open_all();
}

static void
setup_slots(void)
{
	setup_none();
	claim();
}

static void
must(int error, int wanted, const char *what)
{
	if (error != wanted)
		failed("%s: thread %u got %d instead of %d", what, now_running, error, wanted);
}

/* ---- under the permit of a limiter of one ---- */

static void
hold(void)
{
	unsigned i;

	for (i = 1; i < ALL; i++)
		if (holding[i])
			failed("threads %u and %u hold the permit", i, now_running);
	holding[now_running] = true;
	/* What one holder wrote, the next one reads. */
	memory_plain(&shared.work, sizeof(shared.work), true);
	shared.work++;
}

void
scenario_death(void)
{
	holding[now_running] = false;
}

static const struct flk_request one = { .limit = 1 };

static void
queue_up(void)
{
	int error = flki_local_enqueue(TAKER_, &one);

	if (error != 0 && error != -EINPROGRESS)
		failed("thread %u got %d in the line", now_running, error);
}

static void
wait_and_release(void)
{
	must(flki_local_wait(TAKER_, NULL, NULL), 0, "a permit");
	hold();
	holding[now_running] = false;
	must(flki_local_release(TAKER_), 0, "a release");
}

static void
take_and_release(void)
{
	int error = flki_local_enqueue(TAKER_, &one);

	if (error == -EINPROGRESS)
		error = flki_local_wait(TAKER_, NULL, NULL);
	must(error, 0, "a permit");
	hold();
	holding[now_running] = false;
	must(flki_local_release(TAKER_), 0, "a release");
}

static void
release(void)
{
	holding[now_running] = false;
	must(flki_local_release(TAKER_), 0, "a release");
}

/* The first thread holds, the others are in the line in the order of their numbers. */
static void
setup_line(void)
{
	setup_slots();
	queue_up();
	if (now_running == 1)
		hold();
}

/* The first thread holds, the others have a slot. */
static void
setup_holder(void)
{
	setup_slots();
	if (now_running != 1)
		return;
	queue_up();
	hold();
}

/* After the end: the index agrees with the slots, and nobody is in a list. */
static void
is_whole(void)
{
	struct state st = { .h = H, .slots = SLOTS, .n = H->nslots, .me = NIL };
	const char *why = flki_state_check(&st);

	if (why != NULL && !somebody_died_yet())
		failed("%s", why);
	if (H->damaged)
		failed("it counts as damaged");
	if ((H->lock & ~UINT64_C(1)) != 0 && !somebody_died_yet())
		failed("the lock was not left");
}

static void
is_empty(void)
{
	is_whole();
	if (!somebody_died_yet() && (H->used != 0 || H->waiting.count != 0))
		failed("a permit or a place was left");
}

/* ---- lock: takers go in and out ---- */

static void
in_and_out(void)
{
	struct state st;

	must(flki_enter(TAKER_, &st), 0, "the lock");
	hold();
	holding[now_running] = false;
	must(flki_quit(TAKER_, &st), 0, "leaving the lock");
}

/* ---- claim: takers want slots, and give them back ---- */

static void
claim_and_drop(void)
{
	claim();
	if (!taker_has_slot(TAKER_))
		failed("the slot is not ours");
	flki_slot_drop(TAKER_);
}

static void
claim_twice(void)
{
	claim_and_drop();
	claim_and_drop();
}

static void
claim_and_take(void)
{
	claim();
	take_and_release();
	flki_slot_drop(TAKER_);
}

/* ---- gate: one sets gates, another copies them without the lock ---- */

static void
set_gate(unsigned k)
{
	struct flk_gate gate = { .settle_ns = k, .patience_ns = k };
	struct state st;

	gate.when[0] = (char)('a' + k);
	gate.when[100] = (char)('a' + k);
	must(flki_enter(TAKER_, &st), 0, "the lock");
	flki_gate_set(&st, &gate);
	must(flki_quit(TAKER_, &st), 0, "leaving the lock");
}

static void
setup_gate(void)
{
	setup_slots();
	if (now_running == 1)
		set_gate(1);
}

static void
set_gates(void)
{
	set_gate(2);
	set_gate(3);
}

static void
copy_gate(void)
{
	struct flk_gate gate;

	if (flki_gate_copy(H, &gate) == 0)
		failed("there is a gate, and the copy says that there is none");
	if (gate.patience_ns != gate.settle_ns || gate.when[0] != 'a' + (char)gate.settle_ns ||
	    gate.settle_ns < 1 || gate.settle_ns > 3)
		failed("the copy of a gate has words of two");
}

/* ---- holds: a permit is looked at without the lock ---- */

static const struct flk_request two_of_four = { .weight = 2, .limit = 4 };

/* Without a history, whose fences would do for those of the ticket. */
static void
setup_holds(void)
{
	setup_slots();
	LIMITER->file.no_history = true;
	H->event_room = 0;
	if (now_running == 1)
		must(flki_local_enqueue(TAKER_, &two_of_four), 0, "a permit");
}

static void
take_another(void)
{
	must(flki_local_release(TAKER_), 0, "a release");
	must(flki_local_enqueue(TAKER_, &one), 0, "a permit");
}

static void
look_at(uint64_t ticket, uint32_t weight, uint32_t limit)
{
	struct flk_permit p;

	if (flki_local_holds(LIMITER, shared.taker[1].slot, ticket, &p) &&
	    (p.ticket != ticket || p.weight != weight || p.limit != limit || p.fence != ticket))
		failed("the copy of permit %llu has words of another: %u units of %u, fence %llu",
		       (unsigned long long)ticket, p.weight, p.limit, (unsigned long long)p.fence);
}

static void
look_at_permits(void)
{
	look_at(1, 2, 4);
	look_at(2, 1, 1);
}

/* ---- history: it is read while it is written over ---- */

static void
write_events(struct state *st, uint64_t from, uint64_t to)
{
	uint64_t k;

	for (k = from; k <= to; k++) {
		struct event e = { .when_ns = k,
				   .ticket = k,
				   .kind = FLK_EV_LEFT,
				   .code = (int32_t)k,
				   .pid = (uint32_t)k,
				   .weight = (uint32_t)k };
		flki_state_remember(st, &e);
	}
}

static void
write_some(uint64_t from, uint64_t to)
{
	struct state st;

	must(flki_enter(TAKER_, &st), 0, "the lock");
	write_events(&st, from, to);
	must(flki_quit(TAKER_, &st), 0, "leaving the lock");
}

static void
setup_history(void)
{
	setup_slots();
	if (now_running == 1)
		write_some(1, 6);
}

static void
write_over(void)
{
	write_some(7, 13);
}

static void
read_history(void)
{
	struct flk_event e[FLK_HISTORY];
	size_t i, n = flki_local_history(LIMITER, 0, e, FLK_HISTORY);

	for (i = 0; i < n; i++)
		if (e[i].when_ns != e[i].number || e[i].ticket != e[i].number ||
		    e[i].code != (int)e[i].number || e[i].weight != (uint32_t)e[i].number)
			failed("event %llu has words of another", (unsigned long long)e[i].number);
}

/* ---- follow ---- */

static void
write_one(void)
{
	write_some(7, 7);
}

static void
follow(void)
{
	must(flki_local_follow(LIMITER, 6, NULL), 0, "an event");
}

/* ---- cancel and interrupt: by another thread of the process, or a signal's handler ---- */

static void
wait_cancelled(void)
{
	must(flki_local_wait(TAKER_, NULL, NULL), -FLK_CANCELLED, "a wait");
}

static void
cancel(void)
{
	flki_local_cancel(&shared.taker[2]);
}

static void
wait_interrupted(void)
{
	must(flki_local_wait(TAKER_, NULL, NULL), -EINTR, "a wait");
}

static void
interrupt(void)
{
	flki_local_interrupt(&shared.taker[2]);
}

/* ---- an operator ---- */

static void
wait_evicted(void)
{
	must(flki_local_wait(TAKER_, NULL, NULL), -FLK_EVICTED, "a wait");
}

static void
evict(void)
{
	must(flki_local_evict(LIMITER, 2), 0, "an eviction");
}

static void
nothing(void)
{
}

/* ---- grow: a taker makes more slots and comes into the line with one of them ---- */

/* Of the slots that are there, the second thread has one, and takers that do nothing the others. */
static void
setup_full(void)
{
	unsigned i;

	setup_none();
	if (now_running == 1)
		for (i = 1; i < FIRST_SLOTS; i++)
			SLOTS[i].alive.word = 1999;
	if (now_running == 2)
		claim();
}

static void
grow_and_take(void)
{
	if (flki_slot_claim(TAKER_) != 0 || TAKER_->slot < FIRST_SLOTS)
		failed("no new slot");
	take_and_release();
}

static void
check_none(void)
{
	is_whole();
}

#define BODIES(...)                  \
	{                            \
		nothing, __VA_ARGS__ \
	}

const struct scenario scenarios[] = {
	{ "lock", "three takers go through the lock", 3, 2, 4, setup_slots,
	  BODIES(in_and_out, in_and_out, in_and_out), is_empty, 0 },
	{ "start", "two takers want one permit", 2, 2, 3, setup_slots,
	  BODIES(take_and_release, take_and_release), is_empty, 0 },
	{ "wait", "a holder releases, and a taker comes and waits", 2, 2, 3, setup_holder,
	  BODIES(release, take_and_release), is_empty, 0 },
	{ "line", "a holder releases, and two wait", 3, 1, 2, setup_line,
	  BODIES(release, wait_and_release, wait_and_release), is_empty, 0 },
	{ "dead-holder", "a holder is killed while it releases", 3, 0, 1, setup_line,
	  BODIES(release, wait_and_release, wait_and_release), is_empty, 1 },
	{ "dead-waiter", "the head is killed while the holder releases", 3, 0, 1, setup_line,
	  BODIES(release, wait_and_release, wait_and_release), is_empty, 2 },
	{ "dead-taker", "one of two newcomers is killed", 2, 1, 2, setup_slots,
	  BODIES(take_and_release, take_and_release), is_empty, 1 },
	{ "dead-inside", "one of three inside the lock is killed", 3, 1, 2, setup_slots,
	  BODIES(in_and_out, in_and_out, in_and_out), is_empty, 1 },
	{ "claim", "two takers claim slots, and drop them", 2, 2, 3, setup_none,
	  BODIES(claim_twice, claim_twice), check_none, 0 },
	{ "dead-claim", "a taker is killed while it claims, takes and drops", 2, 0, 1, setup_none,
	  BODIES(claim_and_take, claim_and_take), is_empty, 1 },
	{ "gate", "a gate is copied while it is changed", 2, 2, 3, setup_gate,
	  BODIES(set_gates, copy_gate), check_none, 0 },
	{ "holds", "a permit is copied while its slot gets another", 2, 3, 4, setup_holds,
	  BODIES(take_another, look_at_permits), check_none, 0 },
	{ "history", "events are read while they are written over", 2, 2, 3, setup_history,
	  BODIES(write_over, read_history), check_none, 0 },
	{ "follow", "an event comes while a follower goes to sleep", 2, 3, 5, setup_history,
	  BODIES(write_one, follow), check_none, 0 },
	{ "cancel", "a wait is cancelled", 3, 3, 4, setup_line,
	  BODIES(nothing, wait_cancelled, cancel), check_none, 0 },
	{ "interrupt", "a wait is interrupted", 3, 3, 4, setup_line,
	  BODIES(nothing, wait_interrupted, interrupt), check_none, 0 },
	{ "evict", "an operator evicts a waiter", 3, 2, 3, setup_line,
	  BODIES(nothing, wait_evicted, evict), check_none, 0 },
	{ "grow", "a taker makes more slots, and another is inside", 2, 2, 3, setup_full,
	  BODIES(grow_and_take, take_and_release), is_empty, 0 },
};
const unsigned scenario_count = sizeof(scenarios) / sizeof(scenarios[0]);
