/* SPDX-License-Identifier: ISC */
/*
 * registered.c - what lib/robust.c makes of the robust list that the kernel says this thread has; and the
 * numbers by which it knows threads and processes, which a child shares with no other.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "robust.h"

/* ---- a kernel that answers as it should not ---- */

static bool lies;
static int lie_result;
static void *lie_head;
static size_t lie_size;

static long
fake_get(long result, uintptr_t head, size_t *size)
{
	if (!lies)
		return result;
	*(void **)head = lie_head;
	*size = lie_size;
	return lie_result;
}

static long
plain(long number)
{
	return syscall(number);
}

static long
get_list(long number, int pid, void *head, size_t *size)
{
	return fake_get(syscall(number, pid, head, size), (uintptr_t)head, size);
}

__attribute__((unused)) static long
set_list(long number, void *list, size_t size)
{
	return lies ? -1 : syscall(number, list, size);
}

/* syscall() has as many arguments as the call: get_robust_list(2) has three, gettid(2) none. */
#define CHOOSE(a, b, c, d, what, ...) what
#define syscall(...)                  CHOOSE(__VA_ARGS__, get_list, set_list, set_list, plain, )(__VA_ARGS__)

#include "robust.c"
#undef syscall

struct head {
	uintptr_t first;
	intptr_t offset;
	uintptr_t pending;
};

static int
finds(int result, void *head, size_t size)
{
	lies = true;
	lie_result = result;
	lie_head = head;
	lie_size = size;
	return flki_robust_find();
}

static void
test_lists(void)
{
	const intptr_t offset =
	    (intptr_t)offsetof(struct alive, word) - (intptr_t)offsetof(struct alive, NEXT);
	struct head right = { (uintptr_t)&right, offset, 0 };
	struct head shifted = { (uintptr_t)&shifted, offset + 4, 0 };

	is(finds(-1, &right, sizeof(right)), -FLK_NOROBUST, "a filter refuses the call");
	is(finds(0, NULL, sizeof(right)), -FLK_NOROBUST, "a thread without a list");
	is(finds(0, &right, sizeof(right) + 1), -FLK_NOROBUST, "a list of another size");
	is(finds(0, &shifted, sizeof(shifted)), -FLK_NOROBUST, "or of other entries");
	lies = false;
	is(flki_robust_find(), 0, "the list that there is");
	is(finds(-1, NULL, 0), 0, "which is asked for once");
	lies = false;
}

/* ---- numbers ---- */

static uint64_t of_thread[3];

static void *
note_numbers(void *arg)
{
	(void)arg;
	of_thread[0] = flki_robust_me();
	of_thread[1] = flki_robust_process();
	of_thread[2] = flki_robust_tid();
	return NULL;
}

/* The child may ask for any of them first. */
static int
child_is_another(unsigned first)
{
	uint64_t me_before = me, process_before = process;
	pid_t pid = fork_child();

	if (pid == 0) {
		bool good;
		if (first == 0)
			good = flki_robust_me() != me_before;
		else if (first == 1)
			good = flki_robust_process() != process_before;
		else
			good = flki_robust_tid() == (uint32_t)getpid();
		good &= flki_robust_me() != me_before && flki_robust_process() != process_before &&
			flki_robust_process() != 0 && flki_robust_tid() == (uint32_t)getpid();
		_exit(!good);
	}
	return reap_child(pid);
}

static void
test_numbers(void)
{
	pthread_t thread;
	unsigned i;

	ok(flki_robust_me() != 0 && flki_robust_process() != 0, "this thread has a number");
	is(flki_robust_tid(), getpid(), "and the id that the kernel knows");
	if (pthread_create(&thread, NULL, note_numbers, NULL) != 0)
		tap_bail("no thread");
	pthread_join(thread, NULL);
	ok(of_thread[0] != flki_robust_me() && of_thread[1] == flki_robust_process() &&
	       of_thread[2] != flki_robust_tid(),
	   "another thread of the process has another");
	for (i = 0; i < 3; i++)
		is(child_is_another(i), 0, "and a child is another process (%u)", i);
}

int
main(void)
{
	begin();
	ok(flki_robust_me() == 0 && flki_robust_process() == 0 && flki_robust_tid() == 0,
	   "a thread is nobody at first");
	test_lists();
	test_numbers();
	is(flki_robust_entries(), 0, "nothing is in the list");
	return tap_done();
}
