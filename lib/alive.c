/*
 * alive.c - robust futexes, by the kernel's ABI (Documentation/locking/robust-futex-ABI.rst).
 *
 * In a program that has its robust list to itself (FLK_OWN_ROBUST_LIST: the static flocklimit,
 * one thread, any C library) we keep the list.  Anywhere else it is the C library's, which must
 * be glibc: there a struct alive is its pthread_mutex_t.  Both leave the same words behind.
 *
 * The kernel's one blind spot: it knows a dying owner only by a thread id, which two PID
 * namespaces can both have.  It matters only while somebody has a word as `pending' that is
 * another's: when two claims meet on one free slot, or a drop meets the next claim of its slot.
 * Those windows are a few instructions wide, claims go round the slots, and a command's permit
 * has its guard besides.
 */
#include "alive.h"

#include <errno.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "futex.h"

#define WAITERS    UINT32_C(0x80000000)
#define OWNER_DIED UINT32_C(0x40000000)
#define TID_MASK   UINT32_C(0x3fffffff)

#define MOST 2000 /* below the kernel's ROBUST_LIST_LIMIT */

static _Thread_local unsigned taken_here;

bool
flki_alive_room(void)
{
	return taken_here < MOST;
}

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

#ifdef FLK_OWN_ROBUST_LIST

/* The kernel's struct robust_list_head.  Entries are the addresses of the `next' members. */
static struct {
	uint64_t first;
	int64_t futex_offset;
	uint64_t pending;
} robust;

static uint32_t tid;

static uint32_t
my_tid(void)
{
	return tid;
}

void
flki_alive_init(void)
{
	if (tid != 0)
		return;
	tid = (uint32_t)syscall(SYS_gettid);
	robust.first = (uint64_t)(uintptr_t)&robust;
	robust.futex_offset =
	    (int64_t)offsetof(struct alive, word) - (int64_t)offsetof(struct alive, next);
	syscall(SYS_set_robust_list, &robust, sizeof(robust));
}

/* What the kernel reads must be in memory before what makes it look there. */
#define IN_ORDER() atomic_signal_fence(memory_order_seq_cst)

bool
flki_alive_take(struct alive *a)
{
	uint32_t word = atomic_load(&a->word);
	bool taken;

	if (lives(word))
		return false;
	robust.pending = (uint64_t)(uintptr_t)&a->next;
	IN_ORDER();
	taken = atomic_compare_exchange_strong(&a->word, &word, tid);
	if (taken) {
		a->next = robust.first;
		IN_ORDER();
		robust.first = (uint64_t)(uintptr_t)&a->next;
		taken_here++;
	}
	IN_ORDER();
	robust.pending = 0;
	return taken;
}

void
flki_alive_drop(struct alive *a)
{
	uint64_t *link = &robust.first, node = (uint64_t)(uintptr_t)&a->next;

	robust.pending = node;
	IN_ORDER();
	while (*link != node && *link != (uint64_t)(uintptr_t)&robust)
		link = (uint64_t *)(uintptr_t)*link;
	if (*link == node)
		*link = a->next;
	IN_ORDER();
	if (atomic_exchange(&a->word, 0) & WAITERS)
		flki_futex_wake(&a->word);
	robust.pending = 0;
	taken_here--;
}

#else

#include <pthread.h>

_Static_assert(sizeof(struct alive) == sizeof(pthread_mutex_t), "not this C library's mutex");

static uint32_t robust_kind; /* what glibc writes into a robust, process-shared mutex */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static _Thread_local uint32_t tid;

static uint32_t
my_tid(void)
{
	if (tid == 0)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

static void
forget_tid(void)
{
	tid = 0;
	taken_here = 0;
}

static void
learn_kind(void)
{
	union {
		pthread_mutex_t mutex;
		struct alive alive;
	} model;
	pthread_mutexattr_t attr;

	pthread_mutexattr_init(&attr);
	pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&model.mutex, &attr);
	robust_kind = atomic_load(&model.alive.kind);
	pthread_atfork(NULL, NULL, forget_tid);
}

void
flki_alive_init(void)
{
	pthread_once(&once, learn_kind);
}

bool
flki_alive_take(struct alive *a)
{
	pthread_mutex_t *mutex = (void *)a;
	int error;

	if (flki_alive_is(a))
		return false;
	/* A slot's first claim finds zeros; two at once write the same. */
	if (atomic_load(&a->kind) != robust_kind)
		atomic_store(&a->kind, robust_kind);
	error = pthread_mutex_trylock(mutex);
	if (error == EOWNERDEAD)
		error = pthread_mutex_consistent(mutex);
	taken_here += error == 0;
	return error == 0;
}

void
flki_alive_drop(struct alive *a)
{
	pthread_mutex_unlock((void *)a);
	taken_here--;
}

#endif

bool
flki_alive_mine(const struct alive *a)
{
	uint32_t word = atomic_load(&a->word);

	return lives(word) && (word & TID_MASK) == my_tid();
}
