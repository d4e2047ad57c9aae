/* SPDX-License-Identifier: ISC */
/*
 * locking.c - how long lib/lock.c waits for an owner that stays inside, and whom it takes for dead.  The
 * clock and the sleep are our own, so two seconds take no time.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <string.h>

#include "alive.h"
#include "clock.h"
#include "futex.h"
#include "lock.h"

#define SLOTS 4
#define TID   4711

static struct header page;
static struct slot slots[SLOTS];
static struct file file;
static struct patience patience;

static uint64_t the_time, longest_ns;
static unsigned sleeps, wakes, leaves_after;
static bool slept_on_other;
static int sleep_result;

/* Sleeps to the end, unless the owner is to leave after so many sleeps. */
static int
fake_sleep(const void *word, uint32_t value, uint64_t until)
{
	slept_on_other |= word != flki_futex_half(&page.lock) ||
			  value != (uint32_t)atomic_load(&page.lock) || (value & 1) == 0;
	if (until - the_time > longest_ns)
		longest_ns = until - the_time;
	if (sleep_result == -ETIMEDOUT)
		the_time = until;
	if (++sleeps == leaves_after)
		atomic_store(&page.lock, 0);
	return sleep_result;
}

#define flki_futex_sleep(word, value, until) fake_sleep(word, value, until)
#define flki_futex_wake(word)                (wakes += (word) == flki_futex_half(&page.lock))
#define flki_monotonic_ns()                  (the_time)
#include "lock.c"

#define OURS flki_lock_mark(0, 7)
#define ITS  flki_lock_mark(1, 9)

/* The owner of slot 1 is inside, and lives. */
static void
begin_lock(void)
{
	memset(&page, 0, sizeof(page));
	memset(slots, 0, sizeof(slots));
	memset(&patience, 0, sizeof(patience));
	file = (struct file){ .h = &page, .slots = slots, .backed = SLOTS };
	page.nslots = SLOTS;
	atomic_store(&page.lock, ITS);
	atomic_store(&slots[1].alive.word, TID);
	atomic_store(&slots[1].gen, 9);
	the_time = 100 * SECOND;
	longest_ns = 0;
	sleeps = wakes = leaves_after = 0;
	slept_on_other = false;
	sleep_result = -ETIMEDOUT;
}

static enum lock_result
take_until(uint64_t until)
{
	return flki_lock_take(&file, OURS, &patience, until);
}

static uint64_t
passed_ms(void)
{
	uint64_t ms = (the_time - 100 * SECOND) / MS;

	the_time = 100 * SECOND;
	return ms;
}

static void
test_patience(void)
{
	begin_lock();
	is(take_until(UINT64_MAX), STUCK, "an owner that stays inside");
	is(passed_ms(), 2000, "is waited for two seconds");
	ok(longest_ns == 2 * MS && !slept_on_other, "in naps of 2 ms, on the lock's word");
	is(take_until(UINT64_MAX), STUCK, "the same one");
	is(passed_ms(), 100, "is waited for a tenth of a second more");
	atomic_store(&slots[1].gen, 10);
	atomic_store(&page.lock, flki_lock_mark(1, 10));
	is(take_until(UINT64_MAX), STUCK, "another one");
	is(passed_ms(), 2000, "for two seconds again");
	ok((atomic_load(&page.lock) & 1) != 0, "it will wake us when it leaves");
	atomic_store(&page.lock, 0);
	is(take_until(UINT64_MAX), LOCKED, "when it has left, the lock is ours");
	is(atomic_load(&page.lock), OURS | 1, "and others may sleep on");
	is(patience.naps, 0, "we are patient again");

	begin_lock();
	leaves_after = 5;
	is(take_until(UINT64_MAX), LOCKED, "one that leaves in time");
	ok(sleeps == 5 && passed_ms() == 10, "is not waited for any longer");
	is(atomic_load(&page.lock), OURS | 1, "who sleeps beside us is woken after us");
	ok(flki_lock_drop(&page, OURS) && wakes == 1, "by us");
	is(take_until(UINT64_MAX), LOCKED, "a free lock");
	ok(atomic_load(&page.lock) == OURS && sleeps == 5, "is taken at once");
	ok(flki_lock_drop(&page, OURS) && wakes == 1, "and dropped without a wake");
}

static void
test_deadline(void)
{
	begin_lock();
	is(take_until(the_time), STUCK, "after a deadline that is over");
	is(passed_ms(), 100, "it is tried for a tenth of a second");
	begin_lock();
	is(take_until(the_time + 500 * MS), STUCK, "until a deadline");
	is(passed_ms(), 500, "that is not over it is tried until then");
	begin_lock();
	is(take_until(the_time + 100 * MS), STUCK, "where both end at once");
	is(passed_ms(), 100, "then");
	begin_lock();
	sleep_result = 0;
	leaves_after = 3000;
	is(take_until(UINT64_MAX), LOCKED, "a nap that is cut short");
	is(sleeps, 3000, "counts for nothing");
	begin_lock();
	leaves_after = 4000;
	sleep_result = -EAGAIN;
	is(take_until(the_time), LOCKED, "nor does one that could not begin");
}

static void
test_nap(void)
{
	begin_lock();
	ok(nap(&page, ITS, MS) && sleeps == 1, "a whole nap");
	is(atomic_load(&page.lock), ITS | 1, "of which the owner knows");
	ok(nap(&page, ITS | 1, MS) && sleeps == 2, "another");
	atomic_store(&page.lock, 0);
	ok(!nap(&page, ITS, MS) && sleeps == 2, "none if the owner has left meanwhile");
	is(atomic_load(&page.lock), 0, "and the lock stays free");
}

static void
test_dead(void)
{
	begin_lock();
	atomic_store(&slots[1].alive.word, 0x40000000);
	is(take_until(UINT64_MAX), INHERITED, "the lock of a dead owner is inherited");
	ok(sleeps == 0 && atomic_load(&page.lock) == (OURS | 1), "at once, with its sleepers");
	begin_lock();
	atomic_store(&slots[1].gen, 10);
	is(take_until(UINT64_MAX), INHERITED, "and of one whose slot is another's by now");
	begin_lock();
	atomic_store(&page.lock, flki_lock_mark(MAX_SLOTS - 1, 0));
	is(take_until(UINT64_MAX), STUCK, "a slot that we can't see may be alive");
	atomic_store(&page.lock, flki_lock_mark(MAX_SLOTS, 0));
	is(take_until(UINT64_MAX), INHERITED, "one that can't exist is not");
	begin_lock();
	patience.naps = 3;
	atomic_store(&slots[1].alive.word, 0);
	take_until(UINT64_MAX);
	is(patience.naps, 0, "whoever inherits is patient again");
}

static void
test_drop(void)
{
	begin_lock();
	ok(!flki_lock_drop(&page, OURS), "what is another's can't be dropped");
	is(atomic_load(&page.lock), ITS, "and stays");
	is(flki_lock_owner(&page), 1, "its owner is in slot 1");
	ok(!flki_lock_is_left(&page), "it is not left");
	atomic_store(&page.lock, 0);
	ok(!flki_lock_drop(&page, OURS), "nor can what is nobody's");
	is(flki_lock_owner(&page), NIL, "it has no owner");
	ok(flki_lock_is_left(&page), "it is left");
}

int
main(void)
{
	begin();
	test_patience();
	test_deadline();
	test_nap();
	test_dead();
	test_drop();
	return tap_done();
}
