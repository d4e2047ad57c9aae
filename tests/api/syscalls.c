/* SPDX-License-Identifier: ISC */
/*
 * syscalls.c - what is remembered costs no system call: neither a permit for which there is room,
 * nor a hand-over, in which the one who releases wakes the next and does nothing else.
 *
 * A child takes and releases permits under ptrace(2), and brackets what is to be counted with a call
 * that the library never makes.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/ptrace.h>

#include "futex.h"
#include "internal.h"

#ifdef SYS_clock_gettime64
#define CLOCK_CALL SYS_clock_gettime64 /* glibc's, for 64-bit times in programs of 32 bits */
#else
#define CLOCK_CALL SYS_clock_gettime
#endif
#define BRACKET   SYS_getpgid
#define TURNS     1000
#define HANDOVERS 20
#define WINDOWS   (2 * (1 + HANDOVERS))

struct window {
	unsigned wakes, lock, clock, other;
	unsigned long long which; /* of the others, the last */
};

/* ---- in the child ---- */

static void
must(bool right)
{
	if (!right)
		_exit(99);
}

/* It ignores the address, which is for the tracer. */
static void
bracket(const struct flk *f)
{
	syscall(BRACKET, 0, flki_futex_half(&f->file.h->lock));
}

static void
turns(struct flk_taker *me, int n)
{
	const struct flk_request want = { .limit = 1, .command = "cc -O2 -c main.c" };

	while (n-- > 0)
		must(flk_acquire(me, &want, NULL) == 0 && flk_release(me) == 0);
}

static uint64_t
last_event(struct flk *f)
{
	static struct flk_event event[FLK_HISTORY];
	size_t n = flk_history(f, 0, event, FLK_HISTORY);

	return n > 0 ? event[n - 1].number : 0;
}

static void
hand_over(struct flk *f, struct flk_taker *me, struct agent *next)
{
	must(flk_acquire(me, &(struct flk_request){ .limit = 1 }, NULL) == 0);
	agent_tell(next, (struct order){ .kind = ACQUIRE, .limit = 1, .ms = -1 });
	must(stands(f, 1, 1));
	until_asleep(next->pid);
	bracket(f);
	must(flk_release(me) == 0);
	bracket(f);
	must(agent_hear(next).code == 0);
	must(agent_do(next, (struct order){ .kind = RELEASE }).code == 0);
}

static _Noreturn void
act(const char *path)
{
	struct flk *f = attach(path);
	struct flk_taker *me = taker(f);
	struct agent next = agent_start(path);
	struct event *history = f->file.history;
	uint64_t before;
	int i, mute;

	turns(me, FLK_HISTORY); /* a whole lap: from here on there is room for all */
	for (mute = 0; mute < 2; mute++) {
		before = last_event(f);
		f->file.history = mute ? NULL : history;
		bracket(f);
		turns(me, TURNS);
		bracket(f);
		f->file.history = history;
		must(last_event(f) - before == (mute ? 0 : 2 * TURNS));
		f->file.history = mute ? NULL : history;
		for (i = 0; i < HANDOVERS; i++)
			hand_over(f, me, &next);
	}
	f->file.history = history;
	agent_stop(&next);
	flk_taker_free(me);
	flk_detach(f);
	_exit(0);
}

/* ---- the tracer ---- */

/*
 * A call about the lock is no part of it: the one that was woken may find the lock taken yet, and
 * while it is traced the releaser is slow to give it up.
 */
static void
count(struct window *w, unsigned long long nr, unsigned long long word, unsigned long long lock)
{
	if (nr == FUTEX_CALL && word == lock) {
		w->lock++;
	} else if (nr == FUTEX_CALL) {
		w->wakes++;
	} else if (nr == CLOCK_CALL) {
		w->clock++; /* where the kernel has no clock to read without it */
	} else {
		w->other++;
		w->which = nr;
	}
}

/* Runs the child to its end; returns how many windows there were. */
static int
watch(pid_t child, struct window window[WINDOWS])
{
	struct ptrace_syscall_info info;
	unsigned long long lock = 0;
	int status, opened = 0, sig;
	bool inside = false;

	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
		tap_bail("no child to trace");
	if (ptrace(PTRACE_SETOPTIONS, child, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == -1)
		tap_bail("ptrace: %s", strerror(errno));
	for (sig = 0;;) {
		ptrace(PTRACE_SYSCALL, child, 0, sig);
		sig = 0;
		if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status))
			break;
		if (WSTOPSIG(status) != (SIGTRAP | 0x80)) {
			sig = WSTOPSIG(status);
			continue;
		}
		if (ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) <= 0)
			tap_bail("PTRACE_GET_SYSCALL_INFO: %s", strerror(errno));
		if (info.op != PTRACE_SYSCALL_INFO_ENTRY)
			continue;
		if (info.entry.nr == BRACKET) {
			inside = !inside;
			opened += inside;
			lock = info.entry.args[1];
		} else if (inside && opened <= WINDOWS) {
			count(&window[opened - 1], info.entry.nr, info.entry.args[0], lock);
		}
	}
	is(status, 0, "the child did all that it was to do");
	return opened;
}

static void
judge(const struct window *window, const char *how)
{
	struct window sum = { 0 };
	int i;

	is(window[0].wakes + window[0].lock + window[0].other, 0,
	   "%d permits are taken and given back %s: no call", TURNS, how);
	for (i = 1; i <= HANDOVERS; i++) {
		sum.wakes += window[i].wakes;
		sum.lock += window[i].lock;
		sum.other += window[i].other;
		sum.which = window[i].other > 0 ? window[i].which : sum.which;
	}
	is(sum.wakes, HANDOVERS, "%d hand-overs %s: one call each, which wakes the next", HANDOVERS,
	   how);
	tap_note("and %u about the lock", sum.lock);
	if (!is(sum.other, 0, "and none of another kind"))
		tap_note("the last of them was number %llu", sum.which);
}

int
main(void)
{
	static struct window window[WINDOWS];
	struct flk *f;
	pid_t child;

	begin();
	f = fresh(1);
	child = fork_child();
	if (child == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(98);
		raise(SIGSTOP);
		act(flk_path(f));
	}
	is(watch(child, window), WINDOWS, "system calls are counted, %d times", WINDOWS);
	judge(&window[0], "with a history");
	judge(&window[1 + HANDOVERS], "without room for one");
	whole(f, "after all that");
	flk_detach(f);
	return tap_done();
}
