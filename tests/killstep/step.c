/* SPDX-License-Identifier: ISC */
/*
 * step.c - an actor's steps: one instruction after another, or a leap over many.
 *
 * A step is the kernel's PTRACE_SINGLESTEP, and a leap ends at a breakpoint that is written into
 * the actor's own copy of the code.  A sequence from a load-reserved to its store-conditional is
 * one step: nothing in between can be seen from outside (processor.h).
 */
#include "actor.h"

#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "../helpers/common.h"
#include "processor.h"

#define LEAP_NS UINT64_C(50000000) /* a leap is not that long */
#define WORTH   3                  /* a leap costs as much as so many steps */

const double sample_seconds = 15;

bool
actor_possible(void)
{
	int status = CAN_STEP ? actor_probe(PTRACE_SINGLESTEP) : -1;

	return status != -1 && WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP;
}

/* The instruction at which it is, which is no system call, or the sequence that begins there. */
static void
step_one(struct actor *a, uintptr_t pc)
{
	uintptr_t ends[2];
	unsigned n = a->signal == 0 ? processor_sequence(pc, ends) : 0, i;
	long word[2];

	if (n == 0) {
		actor_go(a, PTRACE_SINGLESTEP);
		return;
	}
	for (i = 0; i < n; i++)
		if (!processor_break(a->pid, ends[i], &word[i]))
			tap_bail("no breakpoint");
	actor_go(a, PTRACE_CONT);
	if (a->where == NOT_THERE)
		return;
	while (i-- > 0)
		processor_restore(a->pid, ends[i], word[i]);
}

bool
actor_step(struct actor *a)
{
	uintptr_t pc;

	if (a->where != AMID && a->where != WOKEN)
		return false;
	a->where = AMID;
	pc = actor_pc(a);
	/*
	 * A signal's handler begins before the next instruction.  The actor has our code, so ours
	 * says what that is.
	 */
	if (a->call != -1 || (a->signal == 0 && processor_is_call(pc)))
		actor_go(a, PTRACE_SYSCALL);
	else
		step_one(a, pc);
	if (a->where == AMID && a->call == -1 && actor_at_desk(a)) {
		a->where = AT_DESK;
		a->kept = true;
		return false;
	}
	return a->where != NOT_THERE;
}

/*
 * To the breakpoint that is in place.  It may end before it comes by, or fall asleep, if this time it
 * goes another way.
 */
static void
run_to(struct actor *a, uintptr_t at, long word)
{
	uint64_t start = now_ns();

	do {
		actor_resume_by(a, PTRACE_CONT);
		while (!actor_try_wait(a, WNOHANG)) {
			if (now_ns() - start > LEAP_NS && actor_sleeps(a)) {
				a->where = ASLEEP;
				a->loose = true;
				return;
			}
			sched_yield();
		}
	} while (a->signal != 0);
	if (a->where != AMID)
		return;
	processor_restore(a->pid, at, word);
	if (actor_at_desk(a))
		a->where = AT_DESK;
	else if (PC_BEYOND != 0)
		processor_set_pc(a->pid, at);
}

long
actor_leap(struct actor *a, const struct trace *t, long from, long to)
{
	long point = trace_leap(t, from, to), word;
	uintptr_t at;

	if (point - from < WORTH || a->call != -1 || a->where != AMID)
		return from;
	at = t->pc[point];
	if (!processor_break(a->pid, at, &word))
		return from;
	run_to(a, at, word);
	return point;
}
