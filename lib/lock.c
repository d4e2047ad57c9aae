/*
 * lock.c - mutual exclusion that survives the death of its owner.
 *
 * Why this is no pthread_mutex_t: the kernel and the C library know a robust mutex's owner by its
 * thread id, and two PID namespaces can both have that id.  Where containers share a limiter, the
 * death of one thread would then mark a mutex that another thread, alive and inside, has locked
 * (measured: EOWNERDEAD while the owner was inside), and the owner's own unlock would fail.  And
 * programs of glibc and of musl, whose mutexes are laid out differently, share this file.
 *
 * The word is 0, or names its owner: the low half has the owner's slot + 1, doubled, and in bit
 * 0 whether somebody may sleep on it; the high half has the slot's generation.  A taker that finds
 * the lock taken asks the owner's `alive'.  It takes over a dead owner's lock by one
 * compare-and-swap of the whole word: were the slot claimed anew in the meantime, the generation
 * would differ, so nobody can ever take the lock from an owner whose `alive' says that it lives.
 *
 * The owner drops the lock by a compare-and-swap from its own mark, so it never releases another's.
 * It finds another's there only if the kernel has marked its `alive' by mistake, which is the one
 * thing that thread ids still decide (see alive.c), and another taker has inherited the lock since.
 * enter.c says what becomes of it then.
 *
 * Pairing: the compare-and-swap that takes the lock acquires what that which dropped it,
 * or in a dead owner's case the kernel's exit path, released.
 *
 * Nobody inside sleeps, or calls the system but to wake others and to ask for a dead one's command,
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
#define LEAST       50                  /* naps; past a deadline, too */
#define LONG_NAP_NS UINT64_C(100000000) /* when patience is over */
#define SLOT_OF(v)  ((uint32_t)(v) >> 1)
#define WHO(v)      ((v) & ~SLEEPERS)

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

/* One nap, or until the lock is dropped.  True if all of it was slept through. */
static bool
nap(struct header *h, uint64_t v, uint64_t length_ns)
{
	if ((v & SLEEPERS) == 0 && !atomic_compare_exchange_strong(&h->lock, &v, v | SLEEPERS))
		return false;
	return flki_futex_sleep(&h->lock, (uint32_t)(v | SLEEPERS),
				flki_monotonic_ns() + length_ns) == -ETIMEDOUT;
}

enum lock_result
flki_lock_take(struct file *f, uint64_t mark, struct patience *p, uint64_t until)
{
	struct header *h = f->h;
	/* A taker that has slept here may be one of several sleepers: it keeps the bit. */
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
			if (WHO(v) != p->owner) {
				p->owner = WHO(v);
				p->naps = naps = 0;
			}
			if (naps > 0 && (p->naps >= PATIENCE ||
					 (naps >= LEAST && flki_monotonic_ns() >= until)))
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
		if (WHO(v) != mark)
			return false;
	if (v & SLEEPERS)
		flki_futex_wake(&h->lock);
	return true;
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
