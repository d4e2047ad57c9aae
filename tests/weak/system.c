/* SPDX-License-Identifier: ISC */
/*
 * system.c - what the sources of lib/ ask of the system: sleeps, the robust list, the clock.  It
 * stands in the place of lib/futex.c, lib/robust.c, lib/guard.c and lib/orphan.c.
 *
 * Assumed of the kernel:
 *
 * - A futex call orders as a seq_cst fence does, also when a sleeper wakes.  The look at the word and
 *   the entry into the queue of sleepers are one step beside a wake on that word.  A wake alone makes
 *   nothing happen before the sleeper's return.
 * - A dead thread's words are marked as if the thread went on to do it: by a read-modify-write that
 *   acquires and releases, and then a wake.
 *
 * No command outlives its taker here: an orphan is none.
 */
#include "weak.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "clock.h"
#include "futex.h"
#include "robust.h"
#include "space.h"

#define ENTRIES 4
#define NAP     (3 * MS)   /* the lock's: any sleep of it may time out */
#define TICK    (101 * MS) /* a waiter that can't watch all that it must */

uint64_t virtual_now;

static struct robust_list {
	struct alive *entry[ENTRIES], *pending;
} lists[ALL];

void
system_reset(void)
{
	virtual_now = UINT64_C(1000) * SECOND;
	memset(lists, 0, sizeof(lists));
}

/* ---- sleeps ---- */

static int
sleep_on(const void *const *words, const uint32_t *values, unsigned count, uint64_t deadline)
{
	unsigned i;
	bool woken;

	schedule_point();
	memory_fence();
	for (i = 0; i < count; i++)
		if ((uint32_t)memory_read(words[i], 4) != values[i])
			return -EAGAIN;
	woken = schedule_sleep(words, count, deadline);
	memory_fence();
	return woken ? 0 : -ETIMEDOUT;
}

struct futex_word
flki_futex_on(const void *word, uint32_t value)
{
	return (struct futex_word){ .value = value, .address = (uintptr_t)word };
}

int
flki_futex_sleep_on(struct futex_word *words, unsigned count, uint64_t deadline_ns)
{
	const void *on[FUTEX_MAX_WORDS];
	uint32_t values[FUTEX_MAX_WORDS];
	unsigned i;

	for (i = 0; i < count; i++) {
		on[i] = (const void *)(uintptr_t)words[i].address;
		values[i] = (uint32_t)words[i].value;
	}
	return sleep_on(on, values, count, deadline_ns);
}

int
flki_futex_sleep(const void *word, uint32_t value, uint64_t deadline_ns)
{
	return sleep_on(&word, &value, 1, deadline_ns);
}

static void
wake(const void *word, unsigned most)
{
	schedule_point();
	memory_fence();
	schedule_wake(word, most);
}

void
flki_futex_wake(const void *word)
{
	if (now_running != 0)
		wake(word, 1);
}

void
flki_futex_wake_all(const void *word)
{
	if (now_running != 0)
		wake(word, ALL);
}

/*
 * All sleep.  The lock's naps may be needed when an owner or a sleeper died, and a waiter's tick where
 * it knows that it can't watch all.  The look once a minute must never be.
 */
void
system_be_idle(uint64_t deadline)
{
	uint64_t length = deadline - virtual_now;
	bool is_left = (shared.file[offsetof(struct header, lock)] & 0xfe) == 0;

	if (length > TICK)
		failed("lost wake: all sleep, and only a safety net or a deadline would end it");
	if (length <= NAP && is_left && !somebody_died_yet())
		failed("lost wake: the lock is free, and a taker naps");
}

/* ---- the robust list ---- */

int
flki_robust_find(void)
{
	return 0;
}

uint64_t
flki_robust_me(void)
{
	return now_running;
}

uint64_t
flki_robust_process(void)
{
	return now_running;
}

uint32_t
flki_robust_tid(void)
{
	return 1000 + now_running;
}

unsigned
flki_robust_entries(void)
{
	return 0;
}

bool
flki_robust_open(void)
{
	return true;
}

void
flki_robust_close(void)
{
}

void
flki_robust_begin(struct alive *a)
{
	lists[now_running].pending = a;
}

void
flki_robust_done(void)
{
	lists[now_running].pending = NULL;
}

void
flki_robust_link(struct alive *a, struct alive *behind)
{
	struct robust_list *l = &lists[now_running];

	(void)behind;
	memmove(&l->entry[1], &l->entry[0], sizeof(l->entry) - sizeof(l->entry[0]));
	l->entry[0] = a;
}

/* The entry between the two: alive.c's order is the list's. */
void
flki_robust_unlink(struct alive *before, struct alive *behind)
{
	struct robust_list *l = &lists[now_running];
	unsigned i = 0;

	(void)behind;
	while (before != NULL && i < ENTRIES - 1 && l->entry[i++] != before)
		;
	for (; i < ENTRIES - 1; i++)
		l->entry[i] = l->entry[i + 1];
	l->entry[ENTRIES - 1] = NULL;
}

static void
mark(struct alive *a)
{
	if (memory_mark_dead(a, 1000 + now_running) & UINT32_C(0x80000000))
		wake(&a->word, 1);
}

void
system_exit(void)
{
	struct robust_list *l = &lists[now_running];
	unsigned i;

	for (i = 0; i < ENTRIES; i++)
		if (l->entry[i] != NULL && l->entry[i] != l->pending)
			mark(l->entry[i]);
	if (l->pending != NULL)
		mark(l->pending);
}

/* ---- the rest ---- */

int
weak_clock(int clock, struct timespec *t)
{
	(void)clock;
	*t = flki_timespec(virtual_now);
	return 0;
}

/* The file has its name, and the disk space for all of its slots. */
int
weak_fstat(int fd, struct stat *sb)
{
	(void)fd;
	*sb = (struct stat){ .st_nlink = 1, .st_size = (off_t)MAP_BYTES };
	return 0;
}

bool
flki_guard_is_free(const struct flk *f, uint32_t slot)
{
	(void)f;
	(void)slot;
	return true;
}

void
flki_guard_drop(struct flk_taker *t)
{
	(void)t;
}

bool
flki_orphan_is(struct flk *f, uint32_t slot)
{
	(void)f;
	(void)slot;
	return false;
}

bool
flki_orphan_note(struct flk *f, uint32_t slot)
{
	(void)f;
	(void)slot;
	return false;
}

bool
flki_orphan_watch(struct flk *f, uint32_t slot, uint64_t ticket)
{
	(void)f;
	(void)slot;
	(void)ticket;
	return false;
}

int64_t
flki_clock_ahead(struct flk *f)
{
	(void)f;
	return 0;
}

void
flki_look(struct flk_taker *t, bool hasty)
{
	(void)t;
	(void)hasty;
}

void
flki_gate_condition(const struct state *st, const struct slot *s, struct flk_gated *gated)
{
	(void)st;
	(void)s;
	*gated = (struct flk_gated){ .waits = true };
}

int
flki_space_reserve(int fd, off_t from, off_t to)
{
	(void)fd;
	(void)from;
	(void)to;
	return 0;
}

uint32_t
flk_cpus(uint32_t percent)
{
	return percent / 100;
}
