/* SPDX-License-Identifier: ISC */
/*
 * sleeps.c - when a waiter of lib/wait.c sleeps, on what, and for how long, on each kind of kernel;
 * and what it returns if it can't come to the lock.  The kernel and the clock are our own.
 */
#include "../helpers/common.h"
#include "../helpers/line.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>

#include "internal.h"
#include "clock.h"
#include "futex.h"

/* ---- a kernel of our own ---- */

static uint64_t the_time, many_until, one_until;
static int many_result, many_sleeps, one_sleeps, visits, enter_result, quits, quit_result;
static unsigned many_count;
static const void *one_word;
static uint32_t one_value;
static bool is_left, usr1_in_sleep;

static bool
usr1_is_blocked(void)
{
	sigset_t mask;

	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	return sigismember(&mask, SIGUSR1) == 1;
}

static int
fake_sleep_on(unsigned count, uint64_t until)
{
	many_sleeps++;
	many_count = count;
	many_until = until;
	usr1_in_sleep = usr1_is_blocked();
	return many_result;
}

static int
fake_sleep(const void *word, uint32_t value, uint64_t until)
{
	one_sleeps++;
	one_word = word;
	one_value = value;
	one_until = until;
	usr1_in_sleep = usr1_is_blocked();
	return -ETIMEDOUT;
}

static int
fake_enter(struct state *st)
{
	visits++;
	memset(st, 0, sizeof(*st));
	return enter_result;
}

#define flki_futex_sleep_on(words, n, until) fake_sleep_on(n, until)
#define flki_futex_sleep(word, value, until) fake_sleep(word, value, until)
#define flki_monotonic_ns()                  (the_time)
#define flki_enter_until(t, st, until, mask) fake_enter(st)
#define flki_quit(t, st)                     (quits++, quit_result)
#define flki_lock_is_left(h)                 (is_left)
#include "watch.c"
#include "wait.c"

/* ---- a line ---- */

#define SLOTS 8
#define TID   4711

static struct header page;
static struct slot slots[SLOTS];
static struct state view;
static struct flk limiter;

/* 0 holds; 1 and on wait, of which some are barriers. */
static void
begin_line(unsigned waiters, unsigned barriers)
{
	uint32_t i;

	memset(&limiter, 0, sizeof(limiter));
	limiter.file.h = &page;
	limiter.file.slots = slots;
	limiter.file.backed = SLOTS;
	view = empty_state(&page, slots, SLOTS);
	view.now_ns = 100 * SECOND;
	for (i = 0; i <= waiters; i++)
		enter_line(&view, i, 1, 1, barriers >> i & 1 ? BARRIER : TAKER);
	the_time = 100 * SECOND;
	many_result = many_sleeps = one_sleeps = visits = enter_result = quits = quit_result = 0;
	one_word = NULL;
}

/* ---- one sleep ---- */

static void
sleep_on(struct watch *w, uint64_t until, uint64_t tick_ns, const sigset_t *mask)
{
	w->tick_ns = tick_ns;
	flki_watch_sleep(w, until, mask);
}

static struct watch
two_words(void)
{
	struct watch w = { .count = 2 };

	w.word[0] = flki_futex_on(&slots[1].wake, 55);
	w.word[1] = flki_futex_on(&slots[0].alive.word, 66);
	return w;
}

static void
test_sleep(void)
{
	static const int over[] = { 0, -EAGAIN, -EINTR, -ETIMEDOUT };
	struct watch w;
	sigset_t none;
	unsigned i;

	begin_line(1, 0);
	w = two_words();
	for (i = 0; i < sizeof(over) / sizeof(over[0]); i++) {
		begin_line(1, 0);
		many_result = over[i];
		sleep_on(&w, the_time + SECOND, 7, NULL);
		ok(many_sleeps == 1 && many_count == 2 && many_until == the_time + SECOND &&
		       one_sleeps == 0,
		   "one sleep on all words until the deadline (%d)", -over[i]);
	}
	w.incomplete = true;
	sleep_on(&w, the_time + SECOND, 7, NULL);
	ok(many_until == the_time + 100 * MS, "where not all is watched, a tenth of a second");
	sleep_on(&w, the_time + 20 * MS, 7, NULL);
	ok(many_until == the_time + 20 * MS, "or less");
	w.incomplete = false;

	sigemptyset(&none);
	sigaddset(&none, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &none, NULL);
	sigemptyset(&none);
	sleep_on(&w, the_time + SECOND, 7, &none);
	ok(!usr1_in_sleep && usr1_is_blocked(), "the mask is that of the sleep alone");
	sleep_on(&w, the_time + SECOND, 7, NULL);
	ok(usr1_in_sleep, "or the thread's own");

	begin_line(1, 0);
	many_result = -ENOMEM;
	sleep_on(&w, the_time + SECOND, 300 * MS, &none);
	ok(one_sleeps == 1 && one_word == &slots[1].wake && one_value == 55 &&
	       one_until == the_time + 300 * MS && !usr1_in_sleep,
	   "what the kernel can't watch just now is looked at on a tick");
	many_result = 0;
	sleep_on(&w, the_time + SECOND, 300 * MS, NULL);
	ok(one_sleeps == 1 && many_sleeps == 2, "this time; the next time it can");
}

/* Once a kernel has said so, it is not asked again: the last test of all. */
static void
test_sleep_of_old(void)
{
	struct watch w = two_words();

	begin_line(1, 0);
	many_result = -ENOSYS;
	sleep_on(&w, the_time + SECOND, 300 * MS, NULL);
	ok(many_sleeps == 1 && one_sleeps == 1, "an old kernel has no such call");
	sleep_on(&w, the_time + SECOND, 300 * MS, NULL);
	ok(many_sleeps == 1 && one_sleeps == 2, "and is not asked for it again");
	ok(one_word == &slots[1].wake && one_value == 55,
	   "its own word is what a waiter sleeps on");
	is(one_until - the_time, 300 * MS, "for a tick");
	sleep_on(&w, the_time + 200 * MS, 300 * MS, NULL);
	is(one_until - the_time, 200 * MS, "or until the deadline");
}

static void
test_distance(void)
{
	begin_line(5, 0);
	is(distance(&view, 1), 1, "the head looks each tick");
	is(distance(&view, 4), 4, "the fourth each four");
	slots[5].order += 100 * PLACE_GAP;
	is(distance(&view, 5), SLOTS, "and nobody more seldom than the last of a full file");
}

/* ---- what time alone brings ---- */

static void
test_due(void)
{
	bool first = false;
	uint64_t at;

	begin_line(4, 1 << 2);
	is(due(&view, 1, &first), UINT64_MAX, "without a pace no time brings a start");
	page.pace.stagger_ns = 10 * SECOND;
	page.paced.last_ns = view.now_ns - SECOND;
	at = view.now_ns + 9 * SECOND;
	is(due(&view, 1, &first) - at, 0, "with one the head has a timer");
	ok(first, "as the first");
	is(due(&view, 2, &first), UINT64_MAX, "a barrier has none");
	is(due(&view, 3, &first) - at, 100 * MS,
	   "the second, behind it, has one for a little later");
	ok(!first, "and knows that it is not the first");
	is(due(&view, 4, &first), UINT64_MAX, "the third has none");
	page.pace.stagger_ns = UINT64_MAX;
	is(due(&view, 3, &first), UINT64_MAX,
	   "a start that never comes has no time for the second");
	page.pace.stagger_ns = UINT64_MAX - 100 * MS - page.paced.last_ns;
	is(due(&view, 3, &first), UINT64_MAX, "nor one that comes at the end of time");
	begin_line(2, 1 << 1);
	page.pace.stagger_ns = 10 * SECOND;
	page.paced.last_ns = view.now_ns - SECOND;
	is(due(&view, 2, &first) - at, 0, "the first behind a barrier is the first");
	ok(first, "and knows it");
}

static void
test_due_by_gate(void)
{
	const struct flk_gate gate = { .when = "mem>1G", .patience_ns = UINT64_MAX };
	bool first = false;
	uint64_t at;

	begin_line(3, 0);
	flki_gate_set(&view, &gate);
	atomic_store(&slots[0].state, IDLE);
	flki_state_rebuild(&view);
	page.gate.looked_ns = view.now_ns;
	at = due(&view, 1, &first);
	is(at - view.now_ns, SECOND, "the head looks at the gate in a second");
	ok(first, "as the first");
	at = due(&view, 2, &first);
	is(at - view.now_ns, 4 * SECOND, "the second only if the head does not");
	ok(!first, "and it is not the first");
	page.pace.stagger_ns = 500 * MS;
	page.paced.last_ns = view.now_ns;
	is(due(&view, 1, &first) - view.now_ns, 500 * MS, "a pace that comes before that counts");
}

/* ---- without the lock ---- */

static void
test_kept_out(void)
{
	struct flk_taker t = { .flk = &limiter, .slot = NIL, .guard_fd = -1 };

	begin_line(0, 0);
	is(flki_kept_out(&t, the_time + 1), -FLK_STUCK, "the lock's owner stays inside");
	is(t.waited_for, -FLK_STUCK, "as the history says");
	is(flki_kept_out(&t, the_time), -ETIMEDOUT, "until the deadline");
	t.interrupted = true;
	is(flki_kept_out(&t, the_time), -EINTR, "or an interrupt");
	is(flki_kept_out(&t, the_time), -ETIMEDOUT, "which counts once");
	t.cancelled = true;
	is(flki_kept_out(&t, the_time), -FLK_CANCELLED, "or a cancel");
}

static void
test_pass_on(void)
{
	struct flk_taker t = { .flk = &limiter, .slot = 1, .tid = TID, .guard_fd = -1 };
	struct watch w;

	begin_line(1, 0);
	w = two_words();
	atomic_store(&slots[1].alive.word, TID);
	atomic_store(&slots[0].alive.word, TID);
	is_left = true;
	ok(pass_on(&t, &w) == 0 && visits == 0, "a granter that has left needs no help");
	is_left = false;
	enter_result = -FLK_STUCK;
	ok(pass_on(&t, &w) == 0 && visits == 1 && quits == 0,
	   "if it stays inside, the permit is there all the same");
	enter_result = -FLK_DAMAGED;
	ok(pass_on(&t, &w) == -FLK_DAMAGED && quits == 0, "a damaged limiter is one");
	is_left = true;
	atomic_store(&slots[0].alive.word, 0);
	enter_result = -FLK_GONE;
	ok(pass_on(&t, &w) == -FLK_GONE && visits == 3,
	   "a death that it has watched is looked after");
	t.gen++;
	ok(pass_on(&t, &w) == -FLK_MISTAKEN && visits == 3, "not with a slot that is another's");
}

/* The successor of a dead waiter may sleep on, as the kernel has woken another for that death. */
static void
test_successors(void)
{
	struct watch w = { .count = 3 };
	uint32_t before[SLOTS], i;

	begin_line(4, 0);
	for (i = 0; i < SLOTS; i++)
		atomic_store(&slots[i].alive.word, TID);
	w.word[0] = flki_futex_on(&slots[4].wake, 0);
	w.word[1] = flki_futex_on(&slots[1].alive.word, TID);
	w.word[2] = flki_futex_on(&slots[0].alive.word, TID);
	ok(!flki_watch_saw_death(&w), "nobody has died");
	for (i = 0; i < SLOTS; i++)
		before[i] = atomic_load(&slots[i].wake);
	wake_successors_of_dead(&view, &w);
	is(atomic_load(&slots[2].wake), before[2], "and nobody is woken");
	atomic_store(&slots[1].alive.word, 0);
	ok(flki_watch_saw_death(&w), "a waiter has died");
	wake_successors_of_dead(&view, &w);
	is(atomic_load(&slots[2].wake), before[2] + 1, "and the one behind it is woken");
	before[1] = atomic_load(&slots[1].wake);
	slots[4].seat_bits =
	    (uint64_t)HELD << 32 | HELD; /* behind a word that is no taker's life */
	wake_head_for_orphans(&view, &w);
	is(atomic_load(&slots[1].wake), before[1], "the head is not");
	atomic_store(&slots[0].alive.word, 0);
	wake_head_for_orphans(&view, &w);
	is(atomic_load(&slots[1].wake), before[1] + 1, "unless a holder has died");
}

/* What has died already can't be watched: it is looked at again, or a thread waits for its end. */
static void
test_watches(void)
{
	struct watch w = { .count = 0 };

	begin_line(1, 0);
	atomic_store(&slots[0].alive.word, TID);
	watch_one(&view, &w, 0);
	ok(w.count == 1 && !w.again && w.orphans == 0, "a taker that lives is watched");
	atomic_store(&slots[0].alive.word, 0);
	watch_one(&view, &w, 0);
	ok(w.count == 1 && w.again && w.orphans == 0, "a dead one is looked at again");
	w.again = false;
	slots[0].orphan = 1;
	watch_one(&view, &w, 0);
	ok(!w.again && w.orphans == 1, "a thread waits for an orphan's end");
}

static bool
is_word(const struct futex_word *word, const void *address, uint32_t value)
{
	return word->address == (uintptr_t)address && word->value == value;
}

/* Each waiter watches one life here: the head that of the only holder, the others their predecessors'. */
static void
test_watch_all(void)
{
	struct watch w = { .count = 9, .orphans = 9, .again = true, .incomplete = true };
	uint32_t i;

	begin_line(4, 0);
	for (i = 0; i <= 4; i++) {
		slots[i].ticket = 10 + i;
		atomic_store(&slots[i].alive.word, TID + i);
	}
	for (i = 1; i <= 4; i++) {
		flki_watch_all(&view, &w, i, 55);
		ok(w.count == 2 && is_word(&w.word[0], &slots[i].wake, 55) &&
		       is_word(&w.word[1], &slots[i - 1].alive.word,
			       atomic_load(&slots[i - 1].alive.word)),
		   "waiter %u watches its own word and the one before it", i);
		ok(!w.incomplete && !w.again && w.orphans == 0, "and needs no more");
		is(slots[i].watches, i == 1 ? WATCHES_HOLDERS : 9 + i, "as its slot says");
		is(w.tick_ns, i * 100 * MS, "where the kernel can't watch, it looks on tick %u", i);
	}
}

static void
test_reasons(void)
{
	struct slot waiter = { .kind = TAKER }, barrier = { .kind = BARRIER };

	is(reason_of(&barrier), 0, "a barrier that is done");
	is(reason_of(&waiter), -FLK_EVICTED, "nobody else is out for no reason");
	waiter.reason = barrier.reason = -FLK_CLOSED;
	is(reason_of(&waiter), -FLK_CLOSED, "closed");
	is(reason_of(&barrier), -FLK_CLOSED, "for a barrier, too");
	waiter.reason = 12345;
	is(reason_of(&waiter), -FLK_EVICTED, "what a file says beside is not returned");
}

int
main(void)
{
	begin();
	test_sleep();
	test_distance();
	test_due();
	test_due_by_gate();
	test_kept_out();
	test_pass_on();
	test_successors();
	test_watches();
	test_watch_all();
	test_reasons();
	test_sleep_of_old();
	return tap_done();
}
