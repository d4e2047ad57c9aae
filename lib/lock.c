/* SPDX-License-Identifier: ISC */
/*
 * lock.c - mutual exclusion that survives the death of the lock's owner.  lock.h says why this is
 * not a pthread_mutex_t.
 *
 * The word is 0, or it names the owner.  The low half is the owner's slot + 1, doubled; its bit 0
 * is set if a taker may sleep on the word.  The high half is the slot's generation, which each
 * claim of the slot raises.  A taker that finds the lock taken looks at the owner's `alive', and
 * takes over the lock of a dead owner by one compare-and-swap of the whole word.  If another taker
 * claimed the slot and took the lock in between, the generation differs and the compare-and-swap
 * fails.  So no taker takes the lock from an owner that lives by its `alive'.
 *
 * The owner drops the lock by a compare-and-swap from its own mark, so it never releases the lock
 * of another owner.  It finds another mark only if the kernel has marked its `alive' although it
 * lives (the one thing that thread ids still decide: see alive.c), and another taker has inherited
 * the lock since.  doubt() in inside.c deals with that.
 *
 * Pairing: the compare-and-swap that takes the lock acquires what the compare-and-swap that dropped
 * it released or, if the owner died, what the kernel's exit path released.
 *
 * The owner never sleeps inside, and makes no system call there but to wake other takers and to ask
 * about a dead taker's command, so other takers sleep here for a short time.  The time is bounded,
 * too: a drop wakes one sleeper, and if that is killed before it takes the lock, the next sleeper
 * wakes by itself at the end of its nap.
 */
#include "lock.h"

#include <errno.h>

#include "alive.h"
#include "clock.h"
#include "futex.h"

/*
 * Set by a taker before it sleeps; a drop that finds it wakes one sleeper.
 *
 * It may be set although no taker sleeps: the sleeper was killed, its nap is over, or the word
 * changed before it slept.  The drop then wakes no taker, which costs a system call.
 *
 * It may be clear although takers sleep: a drop clears it for all and wakes one.  That taker sets
 * it again, in the word of the owner that was faster or, when it takes the lock, in its own.  If it
 * is killed before, no drop wakes the others, and each wakes at the end of its nap.
 */
#define SLEEPERS   UINT64_C(1)
#define SLOT_OF(v) ((uint32_t)(v) >> 1)
#define OWNER(v)   ((v) & ~SLEEPERS)

#ifndef SPINS /* the explorer of tests/weak has fewer */
#define SPINS 200
#endif
#define NAP_NS      (2 * MS)
#define LONG_NAP_NS (100 * MS) /* once PATIENCE is used up */

/*
 * How long one owner may be inside before it counts as stuck: 2 s.  In naps that were slept to
 * their end, and not in time, so that the time does not count in which we, and maybe the owner with
 * us, are stopped.
 */
#ifndef PATIENCE /* the fuzzers have less */
#define PATIENCE 1000
#endif

/*
 * How many naps a caller sleeps at least, also if its deadline is over when it comes: a tenth of a
 * second.  An owner that has only lost its CPU to others is out again by then.
 */
#define LEAST 50

static void
pause_cpu(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#else
	atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool
owner_dead(struct file *f, uint64_t v)
{
	uint32_t slot = SLOT_OF(v) - 1;

	/*
	 * A slot that we can't see may belong to a file that has grown; one that can't exist is a
	 * lie.
	 */
	if (slot >= flki_file_slots(f))
		return slot >= MAX_SLOTS;
	/* First alive, then gen: a claim takes alive, and then raises gen. */
	return !flki_alive_is(&f->slots[slot].alive) || atomic_load(&f->slots[slot].gen) != v >> 32;
}

/* Sleeps until the lock is dropped, but for one nap at most.  True if it slept the whole nap. */
static bool
nap(struct header *h, uint64_t v, uint64_t length_ns)
{
	if ((v & SLEEPERS) == 0 && !atomic_compare_exchange_strong(&h->lock, &v, v | SLEEPERS))
		return false;
	return flki_futex_sleep(flki_futex_half(&h->lock), (uint32_t)(v | SLEEPERS),
				flki_monotonic_ns() + length_ns) == -ETIMEDOUT;
}

/* Has the owner been inside for too long, for this taker?  `naps' are those of this call. */
static bool
is_stuck(const struct patience *p, unsigned naps, uint64_t until)
{
	if (naps == 0)
		return false; /* the owner may be about to leave */
	return p->naps >= PATIENCE || (naps >= LEAST && flki_monotonic_ns() >= until);
}

enum lock_result
flki_lock_take(struct file *f, uint64_t mark, struct patience *p, uint64_t until)
{
	struct header *h = f->h;
	/*
	 * The drop that woke us took the bit for sleepers away, and others may sleep on: we set it
	 * again.
	 */
	uint64_t mine = p->naps > 0 ? mark | SLEEPERS : mark, v = 0;
	unsigned spins = 0, naps = 0;

	for (;;) {
		if (atomic_compare_exchange_strong(&h->lock, &v, mine)) {
			p->naps = 0;
			return LOCKED;
		}
		if (owner_dead(f, v)) {
			if (atomic_compare_exchange_strong(&h->lock, &v, mine | SLEEPERS)) {
				p->naps = 0;
				return INHERITED;
			}
		} else if (spins < SPINS) {
			spins++;
			pause_cpu();
		} else {
			if (OWNER(v) != p->owner) {
				p->owner = OWNER(v);
				p->naps = naps = 0;
			}
			if (is_stuck(p, naps, until))
				return STUCK;
			mine |= SLEEPERS;
			if (nap(h, v, p->naps < PATIENCE ? NAP_NS : LONG_NAP_NS)) {
				p->naps++;
				naps++;
			}
		}
		v = 0;
	}
}

bool
flki_lock_drop(struct header *h, uint64_t mark)
{
	uint64_t v = mark;

	while (!atomic_compare_exchange_strong(&h->lock, &v, 0))
		if (OWNER(v) != mark)
			return false;
	if (v & SLEEPERS)
		flki_futex_wake(flki_futex_half(&h->lock));
	return true;
}

bool
flki_lock_is_left(const struct header *h)
{
	uint64_t inside = OWNER(atomic_load(&h->lock));
	unsigned spins;

	for (spins = 0; inside != 0 && spins < 2 * SPINS; spins++) {
		if (OWNER(atomic_load(&h->lock)) != inside)
			return true;
		pause_cpu();
	}
	return inside == 0;
}

uint32_t
flki_lock_owner(const struct header *h)
{
	return SLOT_OF(atomic_load(&h->lock)) - 1;
}
