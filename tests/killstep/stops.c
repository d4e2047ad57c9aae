/* SPDX-License-Identifier: ISC */
/*
 * stops.c - an actor's steps, where no kernel steps it: from one stop() to the next.
 *
 * The compiler puts a stop() into each basic block and before each change of a word that others
 * read (stop.h); system calls stop it as well.  So an actor is killed before each change that
 * counts, but not between two plain stores of one block, as step.c kills it.
 */
#include "actor.h"

#include <sys/ptrace.h>
#include <sys/wait.h>

#include "processor.h"

/* Where actors can be stepped, step.c sees all that is seen here. */
const double sample_seconds = CAN_STEP ? 5 : 15;

bool
actor_possible(void)
{
	int status = actor_probe(PTRACE_CONT);

	return status != -1 && WIFEXITED(status);
}

bool
actor_step(struct actor *a)
{
	if (a->where != AMID && a->where != WOKEN)
		return false;
	a->where = AMID;
	a->desk->stops = true;
	actor_go(a, PTRACE_SYSCALL);
	a->desk->stops = false;
	if (a->where != AMID || a->call != -1 || a->signal != 0)
		return a->where != NOT_THERE;
	if (actor_at_desk(a)) {
		a->where = AT_DESK;
		return false;
	}
	processor_pass_stop(a->pid, actor_pc(a));
	return true;
}

/* Stops are few, so one steps over them all. */
long
actor_leap(struct actor *a, const struct trace *t, long from, long to)
{
	(void)a;
	(void)t;
	(void)to;
	return from;
}
