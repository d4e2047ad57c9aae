/* SPDX-License-Identifier: ISC */
/*
 * lives.c - the words that show that a thread lives: the kernel marks those that it has when it ends, in
 * whatever order it took and dropped them, and no others.  And lib/alive.c without memory.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "robust.h"

static bool no_memory;

/* Not from the heap: what belongs to a thread that ends with its words is lost with it. */
static void *
fake_malloc(size_t size)
{
	static _Alignas(16) char pool[300][64];
	static unsigned used;

	return no_memory || used == 300 || size > 64 ? NULL : pool[used++];
}

static void
fake_free(void *p)
{
	(void)p;
}

#define malloc(size) fake_malloc(size)
#define free(p)      fake_free(p)
#include "alive.c"
#undef malloc
#undef free

#define MANY 9

static struct alive words[MANY];

static bool
take_word(struct alive *a)
{
	if (flki_alive_prepare() != 0)
		tap_bail("no robust list");
	if (flki_alive_take(a))
		return true;
	flki_alive_unprepare();
	return false;
}

static bool
is_marked(const struct alive *a)
{
	return (atomic_load(&a->word) & OWNER_DIED) != 0;
}

/* ---- one word ---- */

static void
test_word(void)
{
	struct alive *a = &words[0];
	uint32_t value, mine = (uint32_t)syscall(SYS_gettid);

	memset(words, 0, sizeof(words));
	ok(!flki_alive_is(a) && flki_alive_tid(a) == 0, "nobody has it");
	ok(take_word(a), "we take it");
	ok(flki_alive_is(a) && flki_alive_tid(a) == (pid_t)mine, "it names our thread");
	ok(flki_alive_is_of(a, mine) && !flki_alive_is_of(a, mine + 1), "and no other");
	ok(!take_word(a), "it can't be taken twice");
	is(atomic_load(&a->word), mine, "nobody watches it");
	ok(flki_alive_watch(a, &value) && value == (mine | WAITERS), "a watcher asks for a wake");
	is(atomic_load(&a->word), value, "which the word says");
	ok(flki_alive_watch(a, &value) && value == (mine | WAITERS), "once for all watchers");
	flki_alive_unwatch(a);
	is(atomic_load(&a->word), mine, "until no wake is needed");
	flki_alive_unwatch(a);
	ok(flki_alive_is_of(a, mine), "it is still ours");
	atomic_store(&a->word, 0);
	ok(!take_word(a), "also where another process has cleared it: no list runs in a circle");
	flki_alive_drop(a);
	ok(take_word(a), "but after a drop");
	flki_alive_drop(a);
	is(atomic_load(&a->word), 0, "a drop leaves nothing");
	flki_alive_drop(a);
	atomic_store(&a->word, 1);
	ok(flki_alive_is(a) && flki_alive_tid(a) == 1, "a thread may have the number 1");
	ok(!take_word(a), "and then it has the word");
	atomic_store(&a->word, OWNER_DIED | WAITERS);
	ok(!flki_alive_is(a) && !flki_alive_watch(a, &value) && value == (OWNER_DIED | WAITERS),
	   "nobody watches a dead one");
	ok(take_word(a), "it can be taken");
	flki_alive_drop(a);
}

/* ---- many ---- */

/* In which order a thread drops some of its words before it ends; 99: no more. */
static const int *drops;

static void *
take_and_drop(void *arg)
{
	unsigned i;

	(void)arg;
	memset(words, 0, sizeof(words));
	for (i = 0; i < MANY; i++)
		if (!take_word(&words[i]))
			tap_bail("a word that can't be taken");
	for (; *drops != 99; drops++)
		flki_alive_drop(&words[*drops]);
	return NULL;
}

static unsigned
marked_after(const int *order)
{
	pthread_t thread;
	unsigned i, set = 0;

	drops = order;
	if (pthread_create(&thread, NULL, take_and_drop, NULL) != 0)
		tap_bail("no thread");
	pthread_join(thread, NULL);
	/* The kernel marks them right before it clears the id that the join waits for. */
	for (i = 0; i < MANY; i++)
		set |= (unsigned)is_marked(&words[i]) << i;
	return set;
}

static void
test_many(void)
{
	is(marked_after((const int[]){ 99 }), 0x1ff, "a thread ends with all of its words");
	is(marked_after((const int[]){ 8, 99 }), 0x0ff, "without the one that it took last");
	is(marked_after((const int[]){ 0, 99 }), 0x1fe, "or first");
	is(marked_after((const int[]){ 4, 99 }), 0x1ef, "or in between");
	is(marked_after((const int[]){ 4, 5, 3, 0, 8, 1, 7, 99 }), 0x044,
	   "or with two in the middle");
	is(marked_after((const int[]){ 8, 7, 6, 5, 4, 3, 2, 1, 0, 99 }), 0, "or with none");
	is(marked_after((const int[]){ 0, 1, 2, 3, 4, 5, 6, 7, 99 }), 0x100,
	   "or with the last alone");
}

/* Mutexes of the C library are in the same list, those with priority inheritance by another link. */
static void *
take_behind_mutexes(void *arg)
{
	static const int protocols[] = { PTHREAD_PRIO_NONE, PTHREAD_PRIO_INHERIT };
	static pthread_mutex_t mutex[2];
	pthread_mutexattr_t attr;
	unsigned i;

	memset(words, 0, sizeof(words));
	for (i = 0; i < 2; i++) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_setrobust(&attr, PTHREAD_MUTEX_ROBUST);
		pthread_mutexattr_setprotocol(&attr, protocols[i]);
		if (pthread_mutex_init(&mutex[i], &attr) != 0 || pthread_mutex_lock(&mutex[i]) != 0)
			return NULL;
	}
	if (!take_word(&words[0]) || !take_word(&words[1]))
		tap_bail("a word that can't be taken");
	flki_alive_drop(&words[0]);
	is(flki_robust_entries(), 1, "one word behind mutexes of the C library");
	for (i = 0; i < 2; i++)
		pthread_mutex_unlock(&mutex[i]);
	*(bool *)arg = true;
	return NULL;
}

static void
test_mutexes(void)
{
	pthread_t thread;
	bool done = false;

#ifndef __GLIBC__
	tap_skip("this C library's mutexes are in a list of their own");
	return;
#endif
	if (pthread_create(&thread, NULL, take_behind_mutexes, &done) != 0)
		tap_bail("no thread");
	pthread_join(thread, NULL);
	if (done)
		ok(is_marked(&words[1]) && !is_marked(&words[0]), "is marked");
	else
		tap_skip("no robust mutexes with priority inheritance here");
}

/* ---- a child has none of its parent's ---- */

static void
test_child(void)
{
	pid_t pid;
	unsigned i;

	memset(words, 0, sizeof(words));
	for (i = 0; i < MANY; i++)
		take_word(&words[i]);
	if ((pid = fork_child()) == 0) {
		bool good = true;
		memset(words, 0, sizeof(words));
		for (i = 0; i < MANY; i++)
			good &= take_word(&words[i]);
		_exit(!good);
	}
	is(reap_child(pid), 0, "a child takes words of its own, where its parent had some");
	for (i = 0; i < MANY; i++)
		flki_alive_drop(&words[i]);
}

/* ---- without memory ---- */

static void
test_no_memory(void)
{
	unsigned i;

	memset(words, 0, sizeof(words));
	no_memory = true;
	for (i = 0; i < MANY && flki_alive_prepare() == 0; i++)
		flki_alive_take(&words[i]);
	ok(i >= 1 && i < MANY, "a thread has some words without memory (%u)", i);
	is(flki_alive_prepare(), -ENOMEM, "and not more");
	ok(!flki_alive_take(&words[MANY - 1]), "also if it is not asked before");
	is(atomic_load(&words[MANY - 1].word), 0, "then the word stays free");
	flki_alive_drop(&words[0]);
	is(flki_alive_prepare(), 0, "one that was dropped leaves its memory");
	flki_alive_unprepare();
	is(flki_alive_prepare(), 0, "and one that was not taken");
	flki_alive_unprepare();
	for (i = 0; i < MANY; i++)
		flki_alive_drop(&words[i]);
	no_memory = false;
	is(flki_robust_entries(), 0, "nothing is left in the list");
}

int
main(void)
{
	begin();
	test_word();
	test_many();
	test_mutexes();
	test_child();
	test_no_memory();
	return tap_done();
}
