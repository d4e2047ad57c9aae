/*
 * robust.c - robust lists, by the kernel's ABI (Documentation/locking/robust-futex-ABI.rst).
 *
 * In a program that has its threads' robust lists to itself (FLK_OWN_ROBUST_LIST: the static
 * flocklimit, any C library) each list's head is ours.  Anywhere else it is the C library's, which
 * must be glibc: its offset from a list entry to the futex is that of a struct alive.  Both leave
 * the same words behind.
 *
 * The list runs through memory that others can write, so a link is never read from there, only
 * written: what follows what is known from this program's own memory.  In the C library's list
 * come its own entries, whose links are this program's, and behind them a tail for each copy of this
 * library in the program: a mark, which is an entry in memory of our own that the kernel passes by,
 * and that copy's entries.  So the C library never meets our entries, as pthread_mutex_unlock()
 * would, which writes to where links lead.  The kernel does, when the thread has ended: a wrong
 * link keeps it from other entries of ours, and it changes no word but one with this thread's id.
 *
 *	head -> (the C library's) -> mark A -> A's entries -> mark B -> B's entries -> head
 *
 * A mark says where its tail ends.  By that a copy gets over another's entries without a look at
 * them, and puts its own mark behind the last.
 */
#include "robust.h"

#include <pthread.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* The kernel's struct robust_list_head.  Entries are the addresses of the `next' members. */
struct robust {
	uint64_t first;
	int64_t futex_offset;
	uint64_t pending;
};

/*
 * Other copies of this library, of whatever version, read this: its form can't change any more.
 * Where a mutex of the C library's in this list has its owner, `mark' has no thread's id.
 */
struct tail {
	struct alive mark;
	uint64_t after;   /* what follows our last entry: the next mark, or the head */
	uint64_t *last;   /* the link that has it: in our last entry */
	uint64_t entries; /* not counting the mark; the mark is in the list while there are any */
};

#define OFFSET ((int64_t)offsetof(struct alive, word) - (int64_t)offsetof(struct alive, next))

/* What the kernel reads must be in memory before what makes it look there. */
#define IN_ORDER() atomic_signal_fence(memory_order_seq_cst)

static uint64_t
entry(const struct alive *a)
{
	return (uint64_t)(uintptr_t)&a->next;
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
	return 1; /* this program's children are no takers of its limiters */
}

int
flki_robust_find(void)
{
	if (tid != 0)
		return 0;
	own.first = tail.after = (uint64_t)(uintptr_t)&own;
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

static uint64_t *
front(void)
{
	return &own.first;
}

#else

_Static_assert(sizeof(struct alive) == sizeof(pthread_mutex_t), "not this C library's mutex");

static const uint32_t mark_of_ours[] = { 0x6b6c6600, 0xf66c6b74, 0x61696c31 };

static _Thread_local struct robust *robust;
static _Thread_local struct tail tail;
static _Thread_local uint32_t tid;
static _Thread_local uint64_t me;

/*
 * The number of this process among those that forked each other, in a page that the kernel empties
 * in a child.  `process' is what this thread last saw there.
 */
static _Atomic uint64_t *number;
static _Thread_local uint64_t process;
static pthread_once_t once = PTHREAD_ONCE_INIT;

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

/* In a thread that is new here, or the one that came through a fork: there the list is empty. */
static void
settle(void)
{
	static _Atomic uint64_t processes, threads;
	uint64_t none = 0;

	flki_alive_forget();
	robust = NULL;
	tail = (struct tail){ .mark = { .word = 0 } };
	tid = (uint32_t)syscall(SYS_gettid);
	/* A child counts on from where its parent was. */
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
	if (syscall(SYS_get_robust_list, 0, &head, &size) == -1 || head == NULL ||
	    size != sizeof(*head) || head->futex_offset != OFFSET)
		return -FLK_NOROBUST;
	robust = head;
	return 0;
}

#define PI UINT64_C(1) /* in a link to a mutex of the C library's */

/* The tail that begins with this entry; NULL if that is one of the C library's, or the head. */
static struct tail *
tail_at(uint64_t at)
{
	struct tail *t = (struct tail *)(uintptr_t)(at - offsetof(struct alive, next));

	if (at == (uint64_t)(uintptr_t)robust ||
	    memcmp(t->mark.mutex_inner, mark_of_ours, sizeof(mark_of_ours)) != 0)
		return NULL;
	return t;
}

static uint64_t *
link_after(uint64_t at)
{
	return (uint64_t *)(uintptr_t)at;
}

/* The link in the head, or in the last of the C library's entries, behind which the tails begin. */
static uint64_t *
link_to_tails(void)
{
	uint64_t *link = &robust->first;

	while ((*link & ~PI) != (uint64_t)(uintptr_t)robust && tail_at(*link & ~PI) == NULL)
		link = link_after(*link & ~PI);
	return link;
}

unsigned
flki_robust_entries(void)
{
	struct tail *t;
	uint64_t n = 0;

	for (t = tail_at(*link_to_tails()); t != NULL; t = tail_at(t->after))
		n += t->entries;
	return (unsigned)n;
}

/* Makes what leads to `from', a mark or the head, lead to `to'. */
static bool
lead(uint64_t from, uint64_t to)
{
	uint64_t *link = link_to_tails();
	struct tail *t = tail_at(*link);

	if (*link != from) {
		while (t != NULL && t->after != from)
			t = tail_at(t->after);
		if (t == NULL)
			return false; /* not a list of ours */
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
	tail.after = tail.mark.next = (uint64_t)(uintptr_t)robust;
	tail.last = &tail.mark.next;
	return lead(tail.after, entry(&tail.mark));
}

void
flki_robust_close(void)
{
	if (tail.entries == 0)
		lead(entry(&tail.mark), tail.after);
}

static uint64_t *
front(void)
{
	return &tail.mark.next;
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
	a->next = behind != NULL ? entry(behind) : tail.after;
	if (behind == NULL)
		tail.last = &a->next;
	IN_ORDER();
	*front() = entry(a);
	tail.entries++;
}

void
flki_robust_unlink(struct alive *before, struct alive *behind)
{
	uint64_t *link = before != NULL ? &before->next : front();

	*link = behind != NULL ? entry(behind) : tail.after;
	if (behind == NULL)
		tail.last = link;
	IN_ORDER();
	tail.entries--;
}
