/*
 * alive.c - robust futexes, by the kernel's ABI (Documentation/locking/robust-futex-ABI.rst).
 *
 * In a program that has its threads' robust lists to itself (FLK_OWN_ROBUST_LIST: the static
 * flocklimit, any C library) each list's head is ours.  Anywhere else it is the C library's, which
 * must be glibc: its offset from a list entry to the futex is that of a struct alive.  Both leave
 * the same words behind.
 *
 * The list runs through memory that others can write, so a link is never read from there, only
 * written: what follows what is known from struct hold.  Ours are the last in the list; those
 * before them are the C library's own, whose links are this program's.  So the C library does not
 * read our links either, as pthread_mutex_unlock() would, which writes to where they lead.  The
 * kernel does, when the thread has ended: a wrong link keeps it from other entries of ours, and it
 * changes no word but one with this thread's id.
 *
 * The kernel's one blind spot: it knows a dying owner only by a thread id, which two PID
 * namespaces can both have.  It matters only while somebody has a word as `pending' that is
 * another's: when two claims meet on one free slot, or a drop meets the next claim of its slot.
 * Those windows are a few instructions wide, and nothing in them waits for a page.  A drop that has
 * a sleeper to wake is the exception: its word stays pending during that system call, so that the
 * kernel wakes the sleeper if we are killed before.  It is rare, since a taker that has left the
 * line or released its permit has no sleepers (flki_alive_unwatch).  And claims go round the slots,
 * and a command's permit has its guard besides.
 */
#include "alive.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "futex.h"

#define WAITERS    UINT32_C(0x80000000)
#define OWNER_DIED UINT32_C(0x40000000)
#define TID_MASK   UINT32_C(0x3fffffff)

#define MOST 2000 /* below the kernel's ROBUST_LIST_LIMIT */

#define FEW 4 /* holds without malloc(3) */

/* The kernel's struct robust_list_head.  Entries are the addresses of the `next' members. */
struct robust {
	uint64_t first;
	int64_t futex_offset;
	uint64_t pending;
};

#define OFFSET ((int64_t)offsetof(struct alive, word) - (int64_t)offsetof(struct alive, next))

/* A word that this thread has taken; in the list's order. */
struct hold {
	struct alive *alive; /* NULL: of `few', and not in use */
	uint64_t serial;
	struct hold *before, *after;
};

static _Thread_local unsigned taken_here;
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

#ifdef FLK_OWN_ROBUST_LIST

static _Thread_local struct robust own;
static _Thread_local uint32_t tid;
#define robust (&own)

static uint32_t
my_tid(void)
{
	return tid;
}

static int
find_list(void)
{
	if (tid != 0)
		return 0;
	own.first = (uint64_t)(uintptr_t)&own;
	own.futex_offset = OFFSET;
	if (syscall(SYS_set_robust_list, &own, sizeof(own)) == -1)
		return -FLK_NOROBUST;
	tid = (uint32_t)syscall(SYS_gettid);
	return 0;
}

#else

_Static_assert(sizeof(struct alive) == sizeof(pthread_mutex_t), "not this C library's mutex");

static _Thread_local struct robust *robust;
static _Thread_local uint32_t tid;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static uint32_t
my_tid(void)
{
	if (tid == 0)
		tid = (uint32_t)syscall(SYS_gettid);
	return tid;
}

/* In a child, whose list the C library has emptied. */
static void
forget(void)
{
	struct hold *h;

	while ((h = first) != NULL) {
		first = h->after;
		free_hold(h);
	}
	tid = 0;
	taken_here = 0;
}

static void
forget_in_children(void)
{
	pthread_atfork(NULL, NULL, forget);
}

static int
find_list(void)
{
	struct robust *head;
	size_t size;

	pthread_once(&once, forget_in_children);
	if (robust != NULL)
		return 0;
	if (syscall(SYS_get_robust_list, 0, &head, &size) == -1 || head == NULL ||
	    size != sizeof(*head) || head->futex_offset != OFFSET)
		return -FLK_NOROBUST;
	robust = head;
	return 0;
}

#endif

/* What the kernel reads must be in memory before what makes it look there. */
#define IN_ORDER() atomic_signal_fence(memory_order_seq_cst)

#define PI UINT64_C(1) /* in a link to a mutex of the C library's */

static uint64_t
entry(const struct alive *a)
{
	return (uint64_t)(uintptr_t)&a->next;
}

static uint64_t
after(const struct hold *h)
{
	return h->after != NULL ? entry(h->after->alive) : (uint64_t)(uintptr_t)robust;
}

/* The link, in the head or in the last of the C library's entries, behind which ours begin. */
static uint64_t *
link_to_ours(void)
{
	uint64_t ours = first != NULL ? entry(first->alive) : 0;
	uint64_t *link = &robust->first;

	while (*link != ours && *link != (uint64_t)(uintptr_t)robust)
		link = (uint64_t *)(uintptr_t)(*link & ~PI);
	return link;
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
	int error = find_list();

	if (error != 0)
		return error;
	if (taken_here >= MOST)
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

uint64_t
flki_alive_take(struct alive *a)
{
	static _Atomic uint64_t last_serial;
	uint32_t word = atomic_load(&a->word), me = my_tid();
	struct hold *h;
	uint64_t *link;

	/* In the list twice would be no list: somebody has cleared a word of ours. */
	if (lives(word) || find_hold(a) != NULL)
		return 0;
	/* It is gone only when one was taken and dropped again since flki_alive_prepare(). */
	if ((h = spare) == NULL && (h = spare = new_hold()) == NULL)
		return 0;
	/* A page fault would make the window as wide as a file system's work. */
	atomic_store(&a->touched, 0);
	robust->pending = entry(a);
	IN_ORDER();
	if (!atomic_compare_exchange_strong(&a->word, &word, me)) {
		robust->pending = 0;
		return 0;
	}
	link = link_to_ours();
	*h = (struct hold){ a, atomic_fetch_add(&last_serial, 1) + 1, NULL, first };
	a->next = after(h);
	IN_ORDER();
	*link = entry(a);
	IN_ORDER();
	robust->pending = 0;
	if (first != NULL)
		first->before = h;
	first = h;
	spare = NULL;
	taken_here++;
	return h->serial;
}

void
flki_alive_drop(struct alive *a)
{
	struct hold *h = find_hold(a);
	uint32_t word = atomic_load(&a->word), me = my_tid();
	uint64_t *link;

	if (h == NULL)
		return;
	link = h->before != NULL ? &h->before->alive->next : link_to_ours();
	robust->pending = entry(a);
	IN_ORDER();
	*link = after(h);
	IN_ORDER();
	/* Another's by now, if somebody has cleared it. */
	while ((word & TID_MASK) == me)
		if (atomic_compare_exchange_weak(&a->word, &word, 0)) {
			if (word & WAITERS)
				flki_futex_wake(&a->word);
			break;
		}
	IN_ORDER();
	robust->pending = 0;
	if (h->after != NULL)
		h->after->before = h->before;
	if (h->before != NULL)
		h->before->after = h->after;
	else
		first = h->after;
	free_hold(h);
	taken_here--;
}

bool
flki_alive_has(const struct alive *a, uint64_t serial)
{
	const struct hold *h = find_hold(a);

	return h != NULL && h->serial == serial;
}

bool
flki_alive_mine(const struct alive *a)
{
	uint32_t word = atomic_load(&a->word);

	return lives(word) && (word & TID_MASK) == my_tid();
}
