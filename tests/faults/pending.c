/* SPDX-License-Identifier: ISC */
/*
 * pending.c - after whatever instruction a taker is killed: the kernel writes into no foreign memory.
 *
 * When a thread has died, the kernel marks the words to which the thread's robust list leads, and the
 * one that is pending: the thread was about to put it into the list or to take it out.  It marks a word
 * only if the dead thread's id stands there.  If a word were unmapped while the list, or the pending
 * link, leads to it, and a file is mapped in the same place, then a file that has nothing to do with
 * limiters could be changed: glibc's mutexes have this race.
 *
 * A child takes, gives back and detaches, then maps such a file where the limiter was, full of its
 * thread's id, and does the same anew.  After each instruction we look where the kernel would write;
 * and we kill it at some of them, and look at the file.
 */
#include "../helpers/common.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include "../killstep/processor.h"
#include "internal.h"

#define PAGE     (64 << 10)  /* the largest there is */
#define FOREIGN  (128 << 10) /* bytes of the foreign file: they cover the limiter's first slots */
#define KILLS    24
#define UNTRACED 4 /* a child's exit status */

struct kernel_list { /* the kernel's struct robust_list_head */
	uintptr_t first;
	intptr_t offset;
	uintptr_t pending;
};

static const char *limiter, *foreign;
static void *foreign_map; /* the child's */

/* ---- the child ---- */

static void
take_and_give_back(void)
{
	struct flk *f = attach(limiter);
	struct flk_taker *one = taker(f), *two = taker(f);
	struct flk_request want = { .weight = 1, .limit = 2 };
	char *place = (char *)f->file.slots - (uintptr_t)f->file.slots % PAGE;
	int fd;

	if (flk_acquire(one, &want, NULL) != 0 || flk_acquire(two, &want, NULL) != 0)
		_exit(3);
	flk_release(one);
	flk_taker_free(one);
	flk_taker_free(two);
	flk_detach(f);
	fd = open(foreign, O_RDWR);
	foreign_map = mmap(place, FOREIGN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0);
	if (foreign_map != place)
		_exit(2);
	close(fd);
}

static _Noreturn void
play(void)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
		_exit(UNTRACED);
	raise(SIGSTOP);
	take_and_give_back();
	take_and_give_back();
	_exit(0);
}

/* ---- where the kernel would write ---- */

static bool
copy(pid_t pid, uintptr_t from, void *to, size_t size)
{
	struct iovec ours = { to, size }, theirs = { (void *)from, size };

	return process_vm_readv(pid, &ours, 1, &theirs, 1, 0) == (ssize_t)size;
}

/* The word of this entry is mapped, and not in the foreign file, where each word is the child's id. */
static bool
is_own(pid_t pid, const struct kernel_list *list, uintptr_t link)
{
	uint32_t words[4];

	return copy(pid, (link & ~(uintptr_t)1) + (uintptr_t)list->offset, words, sizeof(words)) &&
	       !(words[0] == (uint32_t)pid && words[1] == (uint32_t)pid &&
		 words[2] == (uint32_t)pid && words[3] == (uint32_t)pid);
}

/* What is wrong after this instruction; NULL: nothing. */
static const char *
look(pid_t pid, unsigned *led)
{
	uintptr_t head, link, next;
	struct kernel_list list;
	unsigned entries = 0;
	size_t size;

	if (syscall(SYS_get_robust_list, pid, &head, &size) == -1 || head == 0 ||
	    !copy(pid, head, &list, sizeof(list)))
		return NULL;
	if (list.pending != 0 && !is_own(pid, &list, list.pending))
		return "the pending link leads to foreign memory";
	for (link = list.first; (link & ~(uintptr_t)1) != head && link != 0; link = next) {
		if (!is_own(pid, &list, link) || ++entries > 100)
			return "the list leads to foreign memory";
		if (!copy(pid, link & ~(uintptr_t)1, &next, sizeof(next)))
			return "the list leads to no memory";
	}
	*led += entries > 0 || list.pending != 0;
	return NULL;
}

/* ---- the trials ---- */

static void
fill_foreign(pid_t pid)
{
	static uint32_t words[FOREIGN / sizeof(uint32_t)];
	int fd = open(foreign, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	size_t i;

	for (i = 0; i < FOREIGN / sizeof(words[0]); i++)
		words[i] = (uint32_t)pid;
	if (write(fd, words, sizeof(words)) != (ssize_t)sizeof(words))
		tap_bail("the foreign file");
	close(fd);
}

static bool
foreign_is_unchanged(pid_t pid)
{
	static uint32_t words[FOREIGN / sizeof(uint32_t)];
	int fd = open(foreign, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, words, sizeof(words));
	size_t i;

	close(fd);
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (words[i] != (uint32_t)pid)
			return false;
	return n == (ssize_t)sizeof(words);
}

/* So many steps, or to the end, then the end.  Returns the steps. */
static unsigned long
live(unsigned long steps, bool looks, const char **wrong, unsigned *led)
{
	unsigned long n = 0;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		play();
	fill_foreign(pid);
	if (waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == UNTRACED)
		tap_skip_all("no process can be traced here");
	if (!WIFSTOPPED(status))
		tap_bail("a child that is traced");
	while (n < steps && ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 &&
	       waitpid(pid, &status, 0) == pid && WIFSTOPPED(status)) {
		n++;
		if (looks && *wrong == NULL && (*wrong = look(pid, led)) != NULL)
			tap_note("after %lu instructions", n);
	}
	if (WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		waitpid(pid, &status, 0);
	} else if (looks) {
		is(status, 0, "the child's end");
	}
	if (!foreign_is_unchanged(pid))
		*wrong = "the foreign file was changed";
	return n;
}

int
main(void)
{
	const char *wrong = NULL;
	unsigned long all;
	unsigned led = 0;
	int i;

	if (!CAN_STEP)
		tap_skip_all("no process can be stepped here");
	begin();
	limiter = strdup(fresh_path());
	foreign = strdup(fresh_path());
	flk_detach(attach(limiter));
	all = live(ULONG_MAX, true, &wrong, &led);
	ok(led > 100, "%lu instructions, after %u of which the list led somewhere", all, led);
	ok(wrong == NULL, "where the kernel would write was the limiter's: %s",
	   wrong != NULL ? wrong : "");
	for (i = 1, wrong = NULL; i < KILLS; i++)
		live(all / KILLS * (unsigned long)i, false, &wrong, &led);
	ok(wrong == NULL, "killed %d times, and no foreign file was changed", KILLS - 1);
	return tap_done();
}
