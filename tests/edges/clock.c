/* SPDX-License-Identifier: ISC */
/*
 * clock.c - the time of day may jump; no wait and no deadline is concerned.
 *
 *	clock.t			the test
 *	clock.t --life PATH	what it traces of the library
 *
 * Every system call of a traced program is looked at.  It is started without a vdso, so that it
 * must ask the kernel for the time, and each answer about the time of day is forged: it jumps by
 * decades, forth and back.  Nothing but the birth date of a new limiter may ask for it, and no
 * sleep may be measured by it.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/futex.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <sys/wait.h>

#if defined(__x86_64__)

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
#define JUMP (30 * 366 * 86400L) /* some 30 years */
#define MOST 256                 /* traced threads */

struct seen {
	unsigned calls, births, monotonic, sleeps, wrong;
	int status;
};

struct thread {
	pid_t tid;
	bool inside; /* between a system call's begin and its end */
	bool forge;
};

/* A child that is not traced, and how it ended. */
static pid_t bystander;
static int bystander_status;

static struct thread thread[MOST];
static int threads;

static struct thread *
thread_of(pid_t tid)
{
	int i;

	for (i = 0; i < threads; i++)
		if (thread[i].tid == tid)
			return &thread[i];
	if (threads == MOST)
		tap_bail("too many threads");
	thread[threads] = (struct thread){ .tid = tid };
	return &thread[threads++];
}

static bool
peek(pid_t tid, uint64_t at, void *to, size_t size)
{
	struct iovec here = { to, size }, there = { (void *)(uintptr_t)at, size };

	return process_vm_readv(tid, &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* At an exec: takes AT_SYSINFO_EHDR out of what the kernel tells the program. */
static void
hide_vdso(pid_t tid)
{
	struct user_regs_struct r;
	uint64_t at, entry[2], n;
	int nulls = 0;

	if (ptrace(PTRACE_GETREGS, tid, 0, &r) == -1 || !peek(tid, r.rsp, &n, sizeof(n)))
		tap_bail("the stack of a new program");
	at = r.rsp + 8 * (n + 2);
	for (; nulls < 1; at += 8) {
		if (!peek(tid, at, &n, sizeof(n)))
			tap_bail("the environment of a new program");
		nulls += n == 0;
	}
	for (;; at += 16) {
		if (!peek(tid, at, entry, sizeof(entry)))
			tap_bail("the auxiliary vector of a new program");
		if (entry[0] == AT_NULL)
			return;
		if (entry[0] == AT_SYSINFO_EHDR)
			ptrace(PTRACE_POKEDATA, tid, (void *)(uintptr_t)at,
			       (void *)(uintptr_t)AT_IGNORE);
	}
}

static bool
is_real(uint64_t clock)
{
	return clock != CLOCK_MONOTONIC && clock != CLOCK_BOOTTIME &&
	       clock != CLOCK_MONOTONIC_RAW && clock != CLOCK_MONOTONIC_COARSE &&
	       clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

static void
complain(struct seen *seen, const struct user_regs_struct *r, const char *what)
{
	seen->wrong++;
	tap_note("%s: system call %lu (%lx, %lx, %lx, %lx, %lx)", what, (unsigned long)r->orig_rax,
		 (unsigned long)r->rdi, (unsigned long)r->rsi, (unsigned long)r->rdx,
		 (unsigned long)r->r10, (unsigned long)r->r8);
}

static void
look_at_call(struct thread *t, struct seen *seen)
{
	struct user_regs_struct r;
	uint64_t op;

	if (ptrace(PTRACE_GETREGS, t->tid, 0, &r) == -1)
		return; /* killed meanwhile */
	seen->calls++;
	t->forge = false;
	switch (r.orig_rax) {
	case SYS_clock_gettime:
		if (is_real(r.rdi)) {
			seen->births++;
			t->forge = true;
		} else {
			seen->monotonic++;
		}
		break;
	case SYS_gettimeofday:
	case SYS_time:
		complain(seen, &r, "asks for the time of day");
		break;
	case SYS_clock_nanosleep:
		/* relative sleeps are not moved by a jump */
		if (is_real(r.rdi) && (r.rsi & TIMER_ABSTIME) != 0)
			complain(seen, &r, "sleeps until a time of day");
		break;
	case SYS_timer_create:
	case SYS_timerfd_create:
		if (is_real(r.rdi))
			complain(seen, &r, "a timer by the time of day");
		break;
	case SYS_futex:
		op = r.rsi & (unsigned)FUTEX_CMD_MASK;
		if ((op == FUTEX_WAIT_BITSET || op == FUTEX_WAIT_REQUEUE_PI) && r.r10 != 0) {
			seen->sleeps++;
			if ((r.rsi & FUTEX_CLOCK_REALTIME) != 0)
				complain(seen, &r, "sleeps until a time of day");
		} else if (op == FUTEX_LOCK_PI && r.r10 != 0) {
			complain(seen, &r, "sleeps until a time of day");
		}
		break;
	case SYS_futex_waitv:
		seen->sleeps++;
		if (is_real(r.r8))
			complain(seen, &r, "sleeps until a time of day");
		break;
	default:
		break;
	}
}

/* The answer: 30 years later, then 30 years earlier, and so on. */
static void
forge_answer(const struct thread *t)
{
	static bool back;
	struct user_regs_struct r;
	struct timespec now;

	if (ptrace(PTRACE_GETREGS, t->tid, 0, &r) == -1 || r.rax != 0 ||
	    !peek(t->tid, r.rsi, &now, sizeof(now)))
		return;
	now.tv_sec += back ? -JUMP : JUMP;
	back = !back;
	if (ptrace(PTRACE_POKEDATA, t->tid, (void *)(uintptr_t)r.rsi,
		   (void *)(uintptr_t)now.tv_sec) == -1)
		tap_bail("to forge the time");
}

static struct seen
trace(char *const argv[])
{
	const long options =
	    PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
	struct seen seen = { 0 };
	pid_t child, tid;
	int status, sig;

	threads = 0;
	child = fork_child();
	if (child == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execv(argv[0], argv);
		_exit(99);
	}
	if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) ||
	    ptrace(PTRACE_SETOPTIONS, child, 0, options) == -1)
		tap_skip_all("no process may be traced here");
	ptrace(PTRACE_SYSCALL, child, 0, 0);
	while ((tid = waitpid(-1, &status, __WALL)) > 0) {
		struct thread *t;
		if (tid == bystander) {
			bystander_status = status;
			continue;
		}
		t = thread_of(tid);
		if (!WIFSTOPPED(status)) {
			if (tid != child)
				continue;
			seen.status = status;
			break;
		}
		sig = WSTOPSIG(status);
		if (sig == (SIGTRAP | 0x80)) {
			t->inside = !t->inside;
			if (t->inside)
				look_at_call(t, &seen);
			else if (t->forge)
				forge_answer(t);
			sig = 0;
		} else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			hide_vdso(tid);
			sig = 0;
		} else if (status >> 16 != 0 || sig == SIGSTOP) {
			sig = 0; /* a new thread */
		}
		ptrace(PTRACE_SYSCALL, tid, 0, sig);
	}
	return seen;
}

/* ---- the lives that are traced ---- */

/* The library: a limiter is made, one waits in vain, one until its turn, one for an orphan. */
static int
life(const char *path)
{
	struct flk *f;
	struct flk_taker *a, *b;
	struct flk_request one = { .limit = 1 };
	struct timespec until;
	uint64_t start;
	struct flk_place place;

	if (flk_attach(&f, path, NULL) != 0 || flk_taker_new(&a, f) != 0 ||
	    flk_taker_new(&b, f) != 0 || flk_acquire(a, &one, NULL) != 0)
		return 1;
	start = now_ns();
	until = in_ms(150);
	if (flk_acquire(b, &one, &until) != -ETIMEDOUT)
		return 2;
	if (now_ns() - start < 150000000 || now_ns() - start > UINT64_C(100000000000))
		return 3;
	until = in_ms(150);
	if (flk_wait_idle(b, &until) != -ETIMEDOUT || flk_place(b, &place) != 0)
		return 4;
	if (flk_release(a) != 0 || flk_acquire(b, &one, NULL) != 0 || flk_leave(b) != 0)
		return 5;
	flk_taker_free(a);
	flk_taker_free(b);
	flk_detach(f);
	return 0;
}

static struct seen
check(const char *what, unsigned births, int expected, char *const argv[])
{
	struct seen seen = trace(argv);

	ok(seen.calls > 10 && seen.monotonic > 0, "%s: its system calls are seen, %u of them", what,
	   seen.calls);
	is(seen.wrong, 0, "none sleeps until a time of day, none asks for it in another way");
	is(seen.births, births, "it is asked for %u times, for the birth of a limiter", births);
	ok(WIFEXITED(seen.status) && WEXITSTATUS(seen.status) == expected,
	   "it ends with %d, whatever the time of day", expected);
	if (!WIFEXITED(seen.status) || WEXITSTATUS(seen.status) != expected)
		tap_note("status %x", (unsigned)seen.status);
	return seen;
}

static void
test_library(char *self)
{
	char *path = strdup(fresh_path());
	char *argv[] = { self, (char *)(uintptr_t) "--life", path, NULL };

	ok(check("the library", 1, 0, argv).sleeps > 0, "it did sleep");
	ok(check("once more, in the same limiter", 0, 0, argv).sleeps > 0, "it did sleep");
	free(path);
}

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })
#define W(text)    ((char *)(uintptr_t)(text))

static void
test_program(const char *program)
{
	struct flk *f = fresh(1);
	struct flk_taker *t = taker(f);
	char *path = strdup(fresh_path()), *held = strdup(flk_path(f));
	char *me = W(program);
	uint64_t start;

	check("a command", 1, 0, WORDS(me, W("-f"), path, W("-n1"), W("true")));
	check("a command in time", 0, 0,
	      WORDS(me, W("-f"), path, W("-n1"), W("-T5"), W("-k5"), W("true")));
	start = now_ns();
	check("a command that is ended", 0, 124,
	      WORDS(me, W("-f"), path, W("-n1"), W("-T200ms"), W("sleep"), W("60")));
	ok(now_ns() - start >= 200000000 && now_ns() - start < UINT64_C(100000000000),
	   "when it is time");
	flk_acquire(t, &(struct flk_request){ .limit = 1 }, NULL);
	start = now_ns();
	ok(check("one who waits in vain", 0, 75,
		 WORDS(me, W("-f"), held, W("-n1"), W("-q"), W("-t200ms"), W("true")))
		   .sleeps > 0,
	   "it did sleep");
	ok(now_ns() - start >= 200000000 && now_ns() - start < UINT64_C(100000000000),
	   "and gave up when it was time");
	bystander = fork_child();
	if (bystander == 0) {
		/* The traced one must wait first. */
		struct flk *own = attach(held);
		_exit(stands(own, 1, 1) && steer_override(own, 2) == 0 ? 0 : 1);
	}
	bystander_status = -1;
	check("one who waits for its turn", 0, 0,
	      WORDS(me, W("-f"), held, W("-n2"), W("-q"), W("true")));
	if (bystander_status == -1)
		bystander_status = reap_child(bystander);
	is(bystander_status, 0, "and was called");
	bystander = 0;
	flk_taker_free(t);
	whole(f, "whatever the time of day");
	flk_detach(f);
	free(path);
	free(held);
}

int
main(int argc, char **argv)
{
	const char *program = getenv("FLOCKLIMIT");

	if (argc == 3 && strcmp(argv[1], "--life") == 0)
		return life(argv[2]);
	begin();
	test_library(argv[0]);
	if (program != NULL)
		test_program(program);
	else
		tap_skip("FLOCKLIMIT does not name the program");
	return tap_done();
}

#else

int
main(void)
{
	tap_skip_all("system calls are read on x86-64 only");
}

#endif
