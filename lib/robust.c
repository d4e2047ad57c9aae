/* SPDX-License-Identifier: ISC */
/*
 * robust.c - robust lists, by the kernel's ABI (Documentation/locking/robust-futex-ABI.rst).
 *
 * A thread registers one list with the kernel.  In a program that has its threads' lists to itself
 * (FLK_OWN_ROBUST_LIST: the static flocklimit, with any C library) we register a head of our own.
 * With glibc the C library has registered one, and our entries join its list.  Both leave the same
 * words in the file.  With another C library than glibc we register a head of our own, too, and
 * then only our own programs are built: see below.
 *
 * What we rely on in the C library, which is glibc, and what notices when it changes:
 *
 * - It registers a robust list for each thread; get_robust_list(2) returns its head.  If it has
 *   not, or the head has another size, flki_robust_find() fails with -FLK_NOROBUST, and with it
 *   every test that takes a permit (api/api.t is the first).
 * - futex_offset, from a list entry to its futex, is that of a struct alive.  The same check.
 * - A pthread_mutex_t has its futex and its link where a struct alive has them: an assertion below,
 *   when this is compiled.
 * - It puts new entries at the front, and writes to no entry but the neighbours of the mutex that
 *   it locks or unlocks.  With 64-bit pointers it does not walk the list; with 32-bit ones its links
 *   lead forward only, so it walks from the front to the mutex that it unlocks.  Its entries have
 *   bit 0 of a link for a mutex with priority inheritance.  edges/foreign.t (test_copies) kills
 *   programs with three copies of this library and robust mutexes of both kinds: a taker would stay
 *   alive, or a mutex would not be marked.
 *
 * The list runs through the file, which other processes can write.  So a link is never read from
 * there, only written: the program's own memory says what follows what.  The list begins with the C
 * library's entries, with links in this program's memory or in that of its shared mutexes.
 * Behind them comes a tail for each copy of this library in the program: a mark, which is an entry
 * in our own memory that the kernel passes over, and then that copy's entries.  So the C library
 * never has one of our entries as a neighbour; pthread_mutex_unlock() would write to where its
 * links lead.  The kernel reads our entries when the thread has ended.  A wrong link there keeps it
 * from marking other entries of ours, but it changes no word that has not this thread's id.
 *
 *	head -> (the C library's) -> mark A -> A's entries -> mark B -> B's entries -> head
 *
 * A mark says where its tail ends.  So a copy skips another copy's entries without reading them,
 * and puts its own mark behind the last.
 */
#include "robust.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/*
 * The kernel's struct robust_list_head, with words of the size of a pointer.  Entries are the
 * addresses of the NEXT members.
 */
struct robust {
	uintptr_t first;
	intptr_t futex_offset;
	uintptr_t pending;
};

/*
 * Other copies of this library, of whatever version, read this: its form can't change any more.
 * The word of `mark' is 0, which is no thread's id, so the kernel leaves it alone.
 */
struct tail {
	struct alive mark;
	uintptr_t after;   /* what follows our last entry: the next mark, or the head */
	uintptr_t *last;   /* the link that leads there: in our last entry */
	uintptr_t entries; /* not counting the mark; the mark is in the list while there are any */
};

#define OFFSET ((intptr_t)offsetof(struct alive, word) - (intptr_t)offsetof(struct alive, NEXT))

/* The kernel must find in memory what a link leads to before it finds the link. */
#define IN_ORDER() atomic_signal_fence(memory_order_seq_cst)

static uintptr_t
entry(const struct alive *a)
{
	return (uintptr_t)&a->NEXT;
}

#ifdef FLK_OWN_ROBUST_LIST

static _Thread_local struct robust own;
static _Thread_local struct tail tail;
static _Thread_local uint32_t tid;
#define robust (&own)

uint32_t
flki_robust_tid(void)
{
	return tid;
}

uint64_t
flki_robust_me(void)
{
	return tid;
}

uint64_t
flki_robust_process(void)
{
	return 1; /* no child of this program uses a taker of its parent */
}

int
flki_robust_find(void)
{
	if (tid != 0)
		return 0;
	own.first = tail.after = (uintptr_t)&own;
	own.futex_offset = OFFSET;
	if (syscall(SYS_set_robust_list, &own, sizeof(own)) == -1)
		return -FLK_NOROBUST;
	tid = (uint32_t)syscall(SYS_gettid);
	return 0;
}

unsigned
flki_robust_entries(void)
{
	return (unsigned)tail.entries;
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

static uintptr_t *
front(void)
{
	return &own.first;
}

#else

#ifdef __GLIBC__
/* Not the size: some processors' mutexes are larger or, with 32-bit pointers, end with the link. */
_Static_assert(offsetof(struct alive, word) == offsetof(pthread_mutex_t, __data.__lock) &&
		   offsetof(struct alive, NEXT) == offsetof(pthread_mutex_t, __data.__list.__next),
	       "not this C library's mutex");
#endif

static const uint32_t mark_of_ours[] = { 0x6b6c6600, 0xf66c6b74, 0x61696c31 };

static _Thread_local struct robust *robust;
static _Thread_local struct tail tail;
static _Thread_local uint32_t tid;
static _Thread_local uint64_t me;

/*
 * The number of this process, which differs between a parent and its children, in a page that the
 * kernel empties in a child.  `process' is the number that this thread last saw there.
 */
static _Atomic uint64_t *number;
static _Thread_local uint64_t process;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#ifdef __GLIBC__

/* A thread without a list is not glibc's: a child of clone(2), say. */
static struct robust *
register_own(void)
{
	return NULL;
}

#else

/*
 * musl registers a thread's list when that thread locks its first process-shared mutex that has an
 * owner (pthread_mutex_trylock.c), so here a taker's thread finds none, and registers this one.  It
 * would not do for the programs of others, which is why configure leaves the library out:
 *
 * - Such a mutex, locked by a holder, puts musl's list in the place of ours, without a word: the
 *   kernel would not mark the holder when it dies, and nobody would get its permit.
 * - Our entries can't join musl's list.  It has one futex_offset, -28 (64-bit), and ours is -32, as in
 *   glibc's mutexes; and a thread that ends by itself walks its list and writes to the mutex around
 *   each entry (pthread_create.c).
 * - The kernel would not mark a detached thread that ends with a permit: such a thread unmaps its
 *   thread-local memory, and this list with it, before the kernel reads it.
 *
 * Our own programs lock no such mutex, and their takers' threads release before they end.
 */
static pthread_key_t own_key;
static pthread_once_t own_once = PTHREAD_ONCE_INIT;
static bool own_ends;

/* A thread ends: what is mapped next where its list was is not for the kernel to read. */
static void
unregister_own(void *list)
{
	if (((struct robust *)list)->first != (uintptr_t)list)
		return;
	syscall(SYS_set_robust_list, NULL, sizeof(struct robust));
	robust = NULL;
}

static void
make_own_key(void)
{
	own_ends = pthread_key_create(&own_key, unregister_own) == 0;
}

static struct robust *
register_own(void)
{
	static _Thread_local struct robust own;

	pthread_once(&own_once, make_own_key);
	if (!own_ends || pthread_setspecific(own_key, &own) != 0)
		return NULL;
	own = (struct robust){ .first = (uintptr_t)&own, .futex_offset = OFFSET };
	return syscall(SYS_set_robust_list, &own, sizeof(own)) == 0 ? &own : NULL;
}

#endif

static void
empty_number(void)
{
	atomic_store(number, 0);
}

static void
make_number(void)
{
	static _Atomic uint64_t elsewhere;
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	number = page != MAP_FAILED ? page : &elsewhere;
	/* For _Fork(3) and clone(2), which call no handlers; some kernels and emulators can't. */
	if (page != MAP_FAILED)
		madvise(page, size, MADV_WIPEONFORK);
	pthread_atfork(NULL, NULL, empty_number);
}

/* For a thread that is new here, and for a child's thread after a fork: its list is empty. */
static void
settle(void)
{
	static _Atomic uint64_t processes, threads;
	uint64_t none = 0;

	robust = NULL;
	tail = (struct tail){ .mark = { .word = 0 } };
	tid = (uint32_t)syscall(SYS_gettid);
	/* A child continues its parent's count, so its number is none of its parent's. */
	me = atomic_fetch_add(&threads, 1) + 1;
	atomic_compare_exchange_strong(number, &none, atomic_fetch_add(&processes, 1) + 1);
	process = atomic_load(number);
}

static bool
is_settled(void)
{
	return process != 0 && atomic_load_explicit(number, memory_order_relaxed) == process;
}

uint64_t
flki_robust_me(void)
{
	if (!is_settled() && number != NULL)
		settle();
	return me;
}

uint64_t
flki_robust_process(void)
{
	if (!is_settled() && number != NULL)
		settle();
	return process;
}

uint32_t
flki_robust_tid(void)
{
	if (!is_settled() && number != NULL)
		settle();
	return tid;
}

int
flki_robust_find(void)
{
	struct robust *head;
	size_t size;

	pthread_once(&once, make_number);
	if (!is_settled())
		settle();
	if (robust != NULL)
		return 0;
	if (syscall(SYS_get_robust_list, 0, &head, &size) == -1)
		return -FLK_NOROBUST;
	if (head == NULL && (head = register_own()) != NULL)
		size = sizeof(*head);
	if (head == NULL || size != sizeof(*head) || head->futex_offset != OFFSET)
		return -FLK_NOROBUST;
	robust = head;
	return 0;
}

#define PI ((uintptr_t)1) /* in a link: it leads to a mutex with priority inheritance */

/* The tail that begins with this entry; NULL if it is an entry of the C library, or the head. */
static struct tail *
tail_at(uintptr_t at)
{
	struct tail *t = (struct tail *)(at - offsetof(struct alive, NEXT));

	if (at == (uintptr_t)robust ||
	    memcmp(t->mark.mutex_inner, mark_of_ours, sizeof(mark_of_ours)) != 0)
		return NULL;
	return t;
}

static uintptr_t *
link_after(uintptr_t at)
{
	return (uintptr_t *)at;
}

/*
 * The link to the first tail: in the last of the C library's entries or, if it has none, in the
 * head.
 */
static uintptr_t *
link_to_tails(void)
{
	uintptr_t *link = &robust->first;

	while ((*link & ~PI) != (uintptr_t)robust && tail_at(*link & ~PI) == NULL)
		link = link_after(*link & ~PI);
	return link;
}

unsigned
flki_robust_entries(void)
{
	struct tail *t;
	uintptr_t n = 0;

	for (t = tail_at(*link_to_tails()); t != NULL; t = tail_at(t->after))
		n += t->entries;
	return (unsigned)n;
}

/* Makes the link that leads to `from', a mark or the head, lead to `to'. */
static bool
lead(uintptr_t from, uintptr_t to)
{
	uintptr_t *link = link_to_tails();
	struct tail *t = tail_at(*link);

	if (*link != from) {
		while (t != NULL && t->after != from)
			t = tail_at(t->after);
		if (t == NULL)
			return false; /* the list is not as we left it */
		t->after = to;
		link = t->last;
	}
	IN_ORDER();
	*link = to;
	IN_ORDER();
	return true;
}

bool
flki_robust_open(void)
{
	if (tail.entries > 0)
		return true;
	memcpy(tail.mark.mutex_inner, mark_of_ours, sizeof(mark_of_ours));
	tail.after = tail.mark.NEXT = (uintptr_t)robust;
	tail.last = &tail.mark.NEXT;
	return lead(tail.after, entry(&tail.mark));
}

void
flki_robust_close(void)
{
	if (tail.entries == 0)
		lead(entry(&tail.mark), tail.after);
}

static uintptr_t *
front(void)
{
	return &tail.mark.NEXT;
}

#endif

/* ---- our entries ---- */

void
flki_robust_begin(struct alive *a)
{
	robust->pending = entry(a);
	IN_ORDER();
}

void
flki_robust_done(void)
{
	IN_ORDER();
	robust->pending = 0;
}

void
flki_robust_link(struct alive *a, struct alive *behind)
{
	a->NEXT = behind != NULL ? entry(behind) : tail.after;
	if (behind == NULL)
		tail.last = &a->NEXT;
	IN_ORDER();
	*front() = entry(a);
	tail.entries++;
}

void
flki_robust_unlink(struct alive *before, struct alive *behind)
{
	uintptr_t *link = before != NULL ? &before->NEXT : front();

	*link = behind != NULL ? entry(behind) : tail.after;
	if (behind == NULL)
		tail.last = link;
	IN_ORDER();
	tail.entries--;
}
