/* SPDX-License-Identifier: ISC */
/*
 * actor.c - a process that does one thing after another at the controller's word, and
 * can be stopped after every instruction.
 *
 * Stepping is done with the processor's single-step flag, and a leap over many instructions with
 * a breakpoint that is written into the actor's own copy of the code.  It is for x86-64: where a
 * locked operation is a loop of load-linked and store-conditional, a single step never ends it.
 */
#include "killstep.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../helpers/common.h"
#include "futex.h"

#ifdef __x86_64__

#include <sys/user.h>

#define REG(name)   ((void *)offsetof(struct user_regs_struct, name))
#define STOP_HERE() __asm__ volatile("int3" ::: "memory")
#define BREAKPOINT  0xccu
#define LEAP_NS     UINT64_C(50000000) /* a leap is not that long */

static const unsigned char syscall_instruction[2] = { 0x0f, 0x05 };

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif

static _Noreturn void
play_part(struct desk *desk, const char *path)
{
	struct part part = { .path = path };
	struct flk_permit permit;

	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	for (;;) {
		__atomic_store_n(&desk->at, true, __ATOMIC_SEQ_CST);
		STOP_HERE();
		desk->code = desk->deed(&part);
		memset(&permit, 0, sizeof(permit));
		if (part.t != NULL)
			flk_permit(part.t, &permit);
		desk->held = permit.weight;
		desk->ticket = permit.ticket;
	}
}

static bool
at_desk(const struct actor *a)
{
	return __atomic_load_n(&a->desk->at, __ATOMIC_SEQ_CST);
}

static void
gone(struct actor *a)
{
	close(a->stat);
	a->where = NOT_THERE;
	a->pid = 0;
}

static void
note_stop(struct actor *a, int status)
{
	if (!WIFSTOPPED(status)) {
		a->crash = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
		gone(a);
	} else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		a->call = a->call == -1 ? ptrace(PTRACE_PEEKUSER, a->pid, REG(orig_rax), NULL) : -1;
		if (a->where == ASLEEP)
			a->where = WOKEN;
	} else if (WSTOPSIG(status) == SIGUSR1) {
		a->signal = SIGUSR1; /* delivered when it goes on */
	} else if (WSTOPSIG(status) == SIGTERM) {
		actor_kill(a); /* of which it dies, as anybody does */
	} else if (WSTOPSIG(status) != SIGTRAP) {
		int sig = WSTOPSIG(status);
		actor_kill(a);
		a->crash = sig;
	}
}

/* In such a call: asleep, and nobody has woken it? */
static bool
sleeps(const struct actor *a)
{
	char text[256];
	const char *p;
	ssize_t n = pread(a->stat, text, sizeof(text) - 1, 0);

	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')');
	return p != NULL && p[1] != '\0' && p[2] == 'S';
}

static bool
try_wait(struct actor *a, int flags)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(a->pid, &status, flags | __WALL)) == -1 && errno == EINTR)
		;
	if (pid == -1)
		tap_bail("waitpid");
	if (pid == 0)
		return false;
	note_stop(a, status);
	return true;
}

/*
 * In a call that lasts until another does something?  A nap on the lock does not, so of a single
 * word's sleeps it is only that of one who follows the history.  A process naps by usleep() only
 * while another has the lock on INIT_BYTE.
 */
static bool
may_sleep(struct actor *a)
{
	long word;

	a->follows = false;
	if (a->call != SYS_futex && a->call != SYS_futex_waitv)
		return a->call == SYS_clock_nanosleep || a->call == SYS_nanosleep;
	word = ptrace(PTRACE_PEEKUSER, a->pid, REG(rdi), NULL);
	if (a->call == SYS_futex_waitv) /* the first of its words: a waiter's is in a slot */
		word = ptrace(PTRACE_PEEKDATA, a->pid,
			      (void *)(word + (long)offsetof(struct futex_word, address)), NULL);
	a->follows = (unsigned long)word % HEADER == offsetof(struct header, events);
	return a->follows || a->call == SYS_futex_waitv;
}

bool
actor_follows(const struct actor *a)
{
	return a->where == ASLEEP && a->follows;
}

static void
resume_by(struct actor *a, int request)
{
	long sig = a->signal;

	a->signal = 0;
	if (ptrace(request, a->pid, NULL, (void *)sig) == -1)
		tap_bail("ptrace");
}

/* Resumes it until it stops, or sleeps. */
static void
go(struct actor *a, int request)
{
	bool sleepy = may_sleep(a);

	resume_by(a, request);
	if (!sleepy) {
		try_wait(a, 0);
		return;
	}
	while (!try_wait(a, WNOHANG)) {
		if (sleeps(a)) {
			a->where = ASLEEP;
			return;
		}
		sched_yield();
	}
}

void
actor_refresh(struct actor *a)
{
	while (a->where == ASLEEP && !try_wait(a, WNOHANG) && !sleeps(a))
		sched_yield();
}

void
actor_signal(struct actor *a)
{
	kill(a->pid, SIGUSR1);
	a->dirty = true;
	actor_refresh(a);
}

void
actor_wait_up(struct actor *a)
{
	if (a->where == ASLEEP)
		try_wait(a, 0);
}

bool
actor_possible(void)
{
	int status;
	pid_t pid = fork_child();

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return false;
	if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) == 0 && waitpid(pid, &status, 0) == pid &&
	    WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) {
		kill(pid, SIGKILL);
		reap_child(pid);
		return true;
	}
	return false;
}

void
actor_start(struct actor *a, const char *path)
{
	char stat[64];
	long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL;

	if (a->desk == NULL) {
		a->desk = mmap(NULL, sizeof(*a->desk), PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (a->desk == MAP_FAILED)
			tap_bail("mmap");
	}
	memset(a->desk, 0, sizeof(*a->desk));
	a->call = -1;
	a->crash = a->signal = 0;
	a->kept = a->extra = a->loose = a->dirty = false;
	a->pid = fork_child();
	if (a->pid == 0)
		play_part(a->desk, path);
	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)a->pid);
	a->stat = open(stat, O_RDONLY | O_CLOEXEC);
	if (a->stat == -1)
		tap_bail("%s", stat);
	a->where = AMID;
	try_wait(a, 0);
	if (a->where != AMID || ptrace(PTRACE_SETOPTIONS, a->pid, NULL, (void *)options) == -1)
		tap_bail("no actor");
	a->where = AT_DESK;
}

void
actor_kill(struct actor *a)
{
	int status;

	if (a->where == NOT_THERE)
		return;
	kill(a->pid, SIGKILL);
	do {
		while (waitpid(a->pid, &status, __WALL) == -1)
			if (errno != EINTR)
				tap_bail("waitpid");
	} while (WIFSTOPPED(status));
	gone(a);
}

void
actor_begin(struct actor *a, deed *what)
{
	if (a->where != AT_DESK)
		tap_bail("an actor is not at its desk");
	if (a->kept)
		go(a, PTRACE_CONT); /* into its stop at the desk */
	a->kept = false;
	a->desk->deed = what;
	__atomic_store_n(&a->desk->at, false, __ATOMIC_SEQ_CST);
	a->where = AMID;
}

bool
actor_to_call(struct actor *a)
{
	if (a->where != AMID && a->where != WOKEN)
		return false;
	a->where = AMID;
	go(a, PTRACE_SYSCALL);
	if (a->where == AMID && a->call == -1 && at_desk(a))
		a->where = AT_DESK;
	return a->where == AMID;
}

void
actor_run(struct actor *a)
{
	while (actor_to_call(a))
		;
}

void
actor_do(struct actor *a, deed *what)
{
	actor_begin(a, what);
	actor_run(a);
}

void
actor_do_at_once(struct actor *a, deed *what)
{
	actor_begin(a, what);
	go(a, PTRACE_CONT);
	if (a->where == AMID)
		a->where = AT_DESK;
}

uintptr_t
actor_pc(const struct actor *a)
{
	return (uintptr_t)ptrace(PTRACE_PEEKUSER, a->pid, REG(rip), NULL);
}

/* It has our code, so ours says what its next instruction is. */
static bool
at_system_call(const struct actor *a)
{
	return memcmp((const void *)actor_pc(a), syscall_instruction, 2) == 0;
}

bool
actor_step(struct actor *a)
{
	if (a->where != AMID && a->where != WOKEN)
		return false;
	a->where = AMID;
	/* A signal's handler begins before the next instruction. */
	go(a, a->call != -1 || (a->signal == 0 && at_system_call(a)) ? PTRACE_SYSCALL
								     : PTRACE_SINGLESTEP);
	if (a->where == AMID && a->call == -1 && at_desk(a)) {
		a->where = AT_DESK;
		a->kept = true;
		return false;
	}
	return a->where != NOT_THERE;
}

/*
 * To the breakpoint that is in place; false if it ended before it came by, or fell asleep, which
 * it may if this time it went another way.
 */
static bool
run_to(struct actor *a, void *at, long word)
{
	uint64_t start = now_ns();

	do {
		resume_by(a, PTRACE_CONT);
		while (!try_wait(a, WNOHANG)) {
			if (now_ns() - start > LEAP_NS && sleeps(a)) {
				a->where = ASLEEP;
				a->loose = true;
				return false;
			}
			sched_yield();
		}
	} while (a->signal != 0);
	if (a->where != AMID)
		return false;
	ptrace(PTRACE_POKETEXT, a->pid, at, word);
	if (at_desk(a)) {
		a->where = AT_DESK;
		return false;
	}
	ptrace(PTRACE_POKEUSER, a->pid, REG(rip), at);
	return true;
}

long
actor_leap(struct actor *a, const struct trace *t, long from, long to)
{
	long point, hits, word, i;
	void *at;

	/* Not across a sleep: who ends that is not told. */
	for (i = from + 1; i <= to; i++)
		if (t->slept[i])
			break;
	point = t->anchor[i - 1];
	hits = t->hits[point];
	/* Hits are counted from where one starts or wakes; who has gone beyond steps the rest. */
	if (t->anchor[from] != from || t->hits[from] != 0 || point <= from || a->call != -1 ||
	    a->where != AMID)
		return from;
	at = (void *)t->pc[point];
	errno = 0;
	word = ptrace(PTRACE_PEEKTEXT, a->pid, at, NULL);
	while (errno == 0) {
		if (ptrace(PTRACE_POKETEXT, a->pid, at, (word & ~0xffL) | BREAKPOINT) == -1)
			break;
		if (!run_to(a, at, word) || --hits == 0)
			return point;
		go(a, PTRACE_SINGLESTEP);
		if (a->where != AMID)
			return point;
	}
	return from;
}

#else

bool
actor_possible(void)
{
	return false;
}

bool
actor_follows(const struct actor *a)
{
	(void)a;
	return false;
}

#endif
