/* SPDX-License-Identifier: ISC */
/*
 * actor.c - a process that does one thing after another at the controller's word, and
 * can be stopped after every instruction.
 *
 * step.c has the steps, or stops.c.
 */
#include "actor.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "../helpers/common.h"
#include "futex.h"
#include "processor.h"

#ifndef SYS_futex_waitv
#define SYS_futex_waitv 449
#endif
/* With 32-bit pointers, the C library naps by this one. */
#ifndef SYS_clock_nanosleep_time64
#define SYS_clock_nanosleep_time64 407
#endif

struct desk *actor_desk;

static _Noreturn void
play_part(struct desk *desk, const char *path)
{
	struct part part = { .path = path };
	struct flk_permit permit;

	actor_desk = desk;
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

bool
actor_at_desk(const struct actor *a)
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

/* What the kernel says of a stop, on each processor in the same words. */
static struct __ptrace_syscall_info
stop_of(const struct actor *a)
{
	struct __ptrace_syscall_info info = { .op = PTRACE_SYSCALL_INFO_NONE };

	if (ptrace(PTRACE_GET_SYSCALL_INFO, a->pid, (void *)sizeof(info), &info) == -1)
		tap_bail("PTRACE_GET_SYSCALL_INFO");
	return info;
}

uintptr_t
actor_pc(const struct actor *a)
{
	return (uintptr_t)stop_of(a).instruction_pointer;
}

static void
note_call(struct actor *a)
{
	struct __ptrace_syscall_info info = stop_of(a);

	if (a->call != -1 && a->leaves) {
		a->last_call = a->call;
		a->calls++;
	}
	a->call = -1;
	if (info.op == PTRACE_SYSCALL_INFO_ENTRY) {
		a->call = (long)info.entry.nr;
		a->leaves = call_leaves(a->call, info.entry.args[2]);
		a->word = (uintptr_t)info.entry.args[0];
	}
}

static void
note_stop(struct actor *a, int status)
{
	if (!WIFSTOPPED(status)) {
		a->crash = WIFSIGNALED(status) ? WTERMSIG(status) : -1;
		gone(a);
	} else if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
		note_call(a);
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
	} else {
		a->call = -1;
	}
}

bool
actor_sleeps(const struct actor *a)
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

bool
actor_try_wait(struct actor *a, int flags)
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
	const struct header *h = NULL;
	unsigned long word = a->word;

	a->follows = false;
	if (a->call != FUTEX_CALL && a->call != SYS_futex_waitv)
		return a->call == SYS_clock_nanosleep || a->call == SYS_clock_nanosleep_time64 ||
		       a->call == SYS_nanosleep;
	if (a->call == SYS_futex_waitv) /* the first of its words: a waiter's is in a slot */
		word = (unsigned long)ptrace(PTRACE_PEEKDATA, a->pid,
					     (void *)(word + offsetof(struct futex_word, address)),
					     NULL);
	a->follows = word % HEADER == (uintptr_t)flki_futex_half(&h->events);
	return a->follows || a->call == SYS_futex_waitv;
}

bool
actor_follows(const struct actor *a)
{
	return a->where == ASLEEP && a->follows;
}

void
actor_resume_by(struct actor *a, int request)
{
	long sig = a->signal;

	a->signal = 0;
	if (ptrace(request, a->pid, NULL, (void *)sig) == -1)
		tap_bail("ptrace");
}

/* Resumes it until it stops, or sleeps. */
void
actor_go(struct actor *a, int request)
{
	bool sleepy = may_sleep(a);

	actor_resume_by(a, request);
	if (!sleepy) {
		actor_try_wait(a, 0);
		return;
	}
	while (!actor_try_wait(a, WNOHANG)) {
		if (actor_sleeps(a)) {
			a->where = ASLEEP;
			return;
		}
		sched_yield();
	}
}

void
actor_refresh(struct actor *a)
{
	while (a->where == ASLEEP && !actor_try_wait(a, WNOHANG) && !actor_sleeps(a))
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
		actor_try_wait(a, 0);
}

int
actor_probe(int request)
{
	pid_t pid = fork_child();
	int status;

	if (pid == 0) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == -1)
			_exit(1);
		raise(SIGSTOP);
		_exit(0);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		return -1;
	if (ptrace(request, pid, NULL, NULL) == -1 || waitpid(pid, &status, 0) != pid)
		status = -1;
	if (status == -1 || WIFSTOPPED(status)) {
		kill(pid, SIGKILL);
		reap_child(pid);
	}
	return status;
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
	a->id = a->pid = fork_child();
	if (a->pid == 0)
		play_part(a->desk, path);
	snprintf(stat, sizeof(stat), "/proc/%d/stat", (int)a->pid);
	a->stat = open(stat, O_RDONLY | O_CLOEXEC);
	if (a->stat == -1)
		tap_bail("%s", stat);
	a->where = AMID;
	actor_try_wait(a, 0);
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
		actor_go(a, PTRACE_CONT); /* into its stop at the desk */
	a->kept = false;
	a->desk->steps = false;
	a->last_call = -1;
	a->calls = 0;
	processor_pass_stop(a->pid, actor_pc(a));
	a->desk->deed = what;
	__atomic_store_n(&a->desk->at, false, __ATOMIC_SEQ_CST);
	a->where = AMID;
}

/* It goes on by this request; true if it is neither at its desk then nor asleep nor gone. */
static bool
go_on(struct actor *a, int request)
{
	if (a->where != AMID && a->where != WOKEN)
		return false;
	a->where = AMID;
	actor_go(a, request);
	if (a->where == AMID && a->call == -1 && actor_at_desk(a))
		a->where = AT_DESK;
	else if (a->where == AMID && a->call == -1)
		processor_pass_stop(a->pid, actor_pc(a));
	return a->where == AMID;
}

bool
actor_to_call(struct actor *a)
{
	return go_on(a, PTRACE_SYSCALL);
}

/* By the calls in which it may sleep: into one and, unless it sleeps there, out of it. */
void
actor_run(struct actor *a)
{
	while ((a->call == -1 || actor_to_call(a)) && go_on(a, PTRACE_CONT)) {
		if (a->signal == 0 && actor_to_call(a))
			actor_to_call(a);
	}
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
	actor_go(a, PTRACE_CONT);
	if (a->where == AMID)
		a->where = AT_DESK;
}
