/*
 * lock.c - mutual exclusion that survives the death of its owner.
 *
 * The word is 0, or names its owner: the low half has the owner's slot + 1, doubled, and in bit
 * 0 whether somebody may sleep on it; the high half has the slot's generation.  Whoever finds it
 * taken asks the owner's `alive'.  A dead owner's lock is taken over by one compare-and-swap of
 * the whole word: were the slot claimed anew in the meantime, the generation would differ, so
 * nobody can ever take the lock from one who lives.
 *
 * Pairing: the compare-and-swap that takes the lock acquires what the exchange that dropped it,
 * or in a dead owner's case the kernel's exit path, released.
 *
 * Nobody inside sleeps, or calls the system but to wake others and to ask for a dead one's guard,
 * so a sleep here is short.  It is bounded as well: when one who was woken here is killed before
 * it takes the lock, the next sleeper comes by itself after NAP_NS.
 */
#include "lock.h"

#include <errno.h>

#include "alive.h"
#include "futex.h"

#define SLEEPERS UINT64_C(1)
#define SPINS    200
#define NAP_NS   UINT64_C(2000000)
#ifndef PATIENCE      /* the fuzzers have less */
#define PATIENCE 1000 /* naps, of one owner's: 2 s, and our own being stopped is no time */
#endif
#define SLOT_OF(v) ((uint32_t)(v) >> 1)
#define WHO(v)     ((v) & ~SLEEPERS)

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

	/* No taker wrote an owner that is out of range. */
	if (slot >= flki_file_slots(f))
		return slot >= MAX_SLOTS;
	/* alive first: a claim raises gen after it took alive. */
	return !flki_alive_is(&f->slots[slot].alive) || atomic_load(&f->slots[slot].gen) != v >> 32;
}

enum lock_result
flki_lock_take(struct file *f, uint32_t me)
{
	struct header *h = f->h;
	uint64_t mine = (uint64_t)atomic_load(&f->slots[me].gen) << 32 | (uint64_t)(me + 1) << 1;
	uint64_t v = 0, seen = 0;
	unsigned spins = 0, naps = 0;

	for (;;) {
		if (atomic_compare_exchange_strong(&h->lock, &v, mine))
			return LOCKED;
		if (owner_dead(f, v)) {
			if (atomic_compare_exchange_strong(&h->lock, &v, mine | SLEEPERS))
				return INHERITED;
		} else if (spins < SPINS) {
			spins++;
			pause_cpu();
		} else {
			if (WHO(v) != seen) {
				seen = WHO(v);
				naps = 0;
			}
			if (naps >= PATIENCE)
				return STUCK;
			/* From here on we may be one of several sleepers: keep the bit. */
			mine |= SLEEPERS;
			if ((v & SLEEPERS) != 0 ||
			    atomic_compare_exchange_strong(&h->lock, &v, v | SLEEPERS))
				naps +=
				    flki_futex_sleep(&h->lock, (uint32_t)(v | SLEEPERS),
						     flki_monotonic_ns() + NAP_NS) == -ETIMEDOUT;
		}
		v = 0;
	}
}

void
flki_lock_drop(struct header *h)
{
	if (atomic_exchange(&h->lock, 0) & SLEEPERS)
		flki_futex_wake(&h->lock);
}

bool
flki_lock_is_left(const struct header *h)
{
	uint64_t inside = WHO(atomic_load(&h->lock));
	unsigned spins;

	for (spins = 0; inside != 0 && spins < 2 * SPINS; spins++) {
		if (WHO(atomic_load(&h->lock)) != inside)
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
