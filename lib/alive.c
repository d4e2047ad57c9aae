/* SPDX-License-Identifier: ISC */
/*
 * alive.c - the words that show which takers live, and the list of the words that this thread has
 * taken.
 *
 * What this relies on in the kernel: when a thread ends, the kernel goes through its robust list
 * and looks at `pending' as well (robust.c); in each word that has the thread's id it sets
 * OWNER_DIED and clears the id; and where WAITERS was set, it wakes one sleeper.  api/crash.t and
 * killstep/ fail if that changes.  What it relies on in the C library is in robust.c.
 *
 * A robust mutex of glibc has a race here: its owner has unlocked it, and is killed before it clears
 * `pending'; meanwhile another thread has destroyed the mutex, as it was free, and has mapped something
 * else there; and if that has the owner's id where the word was, the kernel sets a bit in it.  A word
 * of ours stays mapped until its taker's thread has cleared `pending': only flk_detach() unmaps it, and
 * no taker may be in use then.  That the word is free, which others see, is no leave to detach.
 *
 * The kernel has one blind spot: it knows the dying owner only by a thread id, which threads of two
 * PID namespaces can both have.  The ids are compared only for words that the dying thread has on
 * its list or as `pending'.  So a mistake needs a thread that dies while its `pending' is a word
 * that another thread with the same id owns: two claims meet on one free slot, or a drop meets the
 * next claim of its slot.  Those windows are a few instructions wide, and no instruction in them
 * waits for a page.  A drop with a sleeper to wake is the exception: its word stays pending during
 * that system call, so that the kernel wakes the sleeper if we are killed before.  It is rare,
 * because a taker that has left the line or released its permit has no sleepers
 * (flki_alive_unwatch).  Besides, successive claims take different slots, and the permit of a
 * command has its guard.
 */
#include "alive.h"

#include <errno.h>
#include <stdlib.h>

#include "futex.h"
#include "robust.h"

#define WAITERS    UINT32_C(0x80000000)
#define OWNER_DIED UINT32_C(0x40000000)
#define TID_MASK   UINT32_C(0x3fffffff)

/* Well below the kernel's ROBUST_LIST_LIMIT, which counts marks as well: see robust.c. */
#define MOST 2000

#define FEW 4 /* holds without malloc(3) */

/* A word that this thread has taken, in the order of its robust list. */
struct hold {
	struct alive *alive; /* NULL: a hold of `few' that is not in use */
	struct hold *before, *after;
};

static _Thread_local struct hold few[FEW], *first, *spare;

static bool
lives(uint32_t word)
{
	return (word & TID_MASK) != 0 && (word & OWNER_DIED) == 0;
}

bool
flki_alive_is(const struct alive *a)
{
	return lives(atomic_load(&a->word));
}

pid_t
flki_alive_tid(const struct alive *a)
{
	uint32_t word = atomic_load(&a->word);

	return lives(word) ? (pid_t)(word & TID_MASK) : 0;
}

bool
flki_alive_watch(struct alive *a, uint32_t *value)
{
	uint32_t word = atomic_load(&a->word);

	while (lives(word) && (word & WAITERS) == 0)
		if (atomic_compare_exchange_weak(&a->word, &word, word | WAITERS))
			word |= WAITERS;
	*value = word;
	return lives(word);
}

void
flki_alive_unwatch(struct alive *a)
{
	if (atomic_load_explicit(&a->word, memory_order_relaxed) & WAITERS)
		atomic_fetch_and(&a->word, ~WAITERS);
}

static void
free_hold(struct hold *h)
{
	if (h >= few && h < few + FEW)
		h->alive = NULL;
	else
		free(h);
}

/* In a child, forgets the words that its parent's thread had taken: the child's list is empty. */
static void
forget_parents(void)
{
	static _Thread_local uint64_t whose;
	uint64_t me = flki_robust_me();
	struct hold *h;

	if (whose == me)
		return;
	whose = me;
	while ((h = first) != NULL) {
		first = h->after;
		free_hold(h);
	}
}

static struct alive *
word_of(const struct hold *h)
{
	return h != NULL ? h->alive : NULL;
}

static struct hold *
find_hold(const struct alive *a)
{
	struct hold *h;

	for (h = first; h != NULL && h->alive != a; h = h->after)
		;
	return h;
}

static struct hold *
new_hold(void)
{
	struct hold *h;

	for (h = few; h < few + FEW; h++)
		if (h->alive == NULL)
			return h;
	return malloc(sizeof(*h));
}

int
flki_alive_prepare(void)
{
	int error = flki_robust_find();

	if (error != 0)
		return error;
	forget_parents();
	if (flki_robust_entries() >= MOST)
		return -FLK_CROWDED;
	if (spare == NULL)
		spare = new_hold();
	return spare != NULL ? 0 : -ENOMEM;
}

void
flki_alive_unprepare(void)
{
	if (spare != NULL)
		free_hold(spare);
	spare = NULL;
}

static bool
take(struct alive *a, uint32_t word, uint32_t me)
{
	bool taken;

	flki_robust_begin(a);
	taken = atomic_compare_exchange_strong(&a->word, &word, me);
	if (taken)
		flki_robust_link(a, word_of(first));
	flki_robust_done();
	return taken;
}

bool
flki_alive_take(struct alive *a)
{
	uint32_t word = atomic_load(&a->word), me = flki_robust_tid();
	struct hold *h;

	forget_parents();
	/*
	 * If we have taken it, a writer of the file has cleared it: entered twice, a list is a
	 * circle.
	 */
	if (lives(word) || find_hold(a) != NULL)
		return false;
	/* The spare is used up if a word was taken and dropped again since flki_alive_prepare(). */
	if ((h = spare) == NULL && (h = spare = new_hold()) == NULL)
		return false;
	if (!flki_robust_open())
		return false;
	/* A page fault while the word is pending would widen the window to a file system's work. */
	atomic_store(&a->touched, 0);
	if (!take(a, word, me)) {
		flki_robust_close();
		return false;
	}
	*h = (struct hold){ .alive = a, .after = first };
	if (first != NULL)
		first->before = h;
	first = h;
	spare = NULL;
	return true;
}

void
flki_alive_drop(struct alive *a)
{
	uint32_t word = atomic_load(&a->word), me = flki_robust_tid();
	struct hold *h;

	forget_parents();
	if ((h = find_hold(a)) == NULL)
		return;
	flki_robust_begin(a);
	flki_robust_unlink(word_of(h->before), word_of(h->after));
	/*
	 * If a writer of the file has cleared it, it may be another thread's by now: that one keeps
	 * it.
	 */
	while ((word & TID_MASK) == me)
		if (atomic_compare_exchange_weak(&a->word, &word, 0)) {
			if (word & WAITERS)
				flki_futex_wake(&a->word);
			break;
		}
	flki_robust_done();
	flki_robust_close();
	if (h->after != NULL)
		h->after->before = h->before;
	if (h->before != NULL)
		h->before->after = h->after;
	else
		first = h->after;
	free_hold(h);
}

bool
flki_alive_is_of(const struct alive *a, uint32_t tid)
{
	uint32_t word = atomic_load(&a->word);

	return lives(word) && (word & TID_MASK) == tid;
}
