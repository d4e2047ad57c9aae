/* SPDX-License-Identifier: ISC */
/*
 * interrupt.c - waits that are interrupted: a taker keeps its place in the line, and waits
 * on.  The taker is killed in the interrupt, in its return from the wait and in the wait that
 * follows; or another taker is killed beside it, and the interrupted taker must go on.
 *
 * Signals are the interrupts of a taker that sleeps: flk_interrupt() is called by the handler.
 */
#include "killstep.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- deeds ---- */

static struct flk_taker *interruptible;

/*
 * Only the controller interrupts.  On a machine that uses up its process ids in a minute, somebody's
 * signal to a process that is long gone can arrive here, and would end one wait more.
 */
static void
interrupt_it(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)context;
	if (info->si_pid == getppid())
		flk_interrupt(interruptible);
}

static void
heed_signals(struct part *p)
{
	struct sigaction action = { .sa_sigaction = interrupt_it,
				    .sa_flags = SA_RESTART | SA_SIGINFO };

	interruptible = p->t;
	sigaction(SIGUSR1, &action, NULL);
}

static int
interrupt(struct part *p)
{
	flk_interrupt(p->t);
	return 0;
}

static int
interrupted_in_line(struct part *p)
{
	int error = line_up_for_all(p);

	flk_interrupt(p->t);
	return error;
}

static int
interrupted_in_line_for_one(struct part *p)
{
	int error = line_up_for_one(p);

	flk_interrupt(p->t);
	return error;
}

static int
line_up_for_all_and_heed(struct part *p)
{
	heed_signals(p);
	return line_up_for_all(p);
}

static int
line_up_for_one_and_heed(struct part *p)
{
	heed_signals(p);
	return line_up_for_one(p);
}

static uint64_t
ticket_of(const struct part *p)
{
	return p->f->file.slots[flk_slot(p->t)].ticket;
}

/* -EINTR: more waits were ended than were interrupted; -ESTALE: it has lost its place. */
static int
wait_through(struct part *p)
{
	uint64_t ticket = ticket_of(p);
	int error, waits = 0;

	do
		error = flk_wait(p->t, NULL, NULL);
	while (error == -EINTR && ticket_of(p) == ticket && ++waits < 2);
	return (error == 0 || error == -EINTR) && ticket_of(p) != ticket ? -ESTALE : error;
}

static int
hear_interrupt_and_wait_on(struct part *p)
{
	int error = flk_wait(p->t, NULL, NULL);

	return error == -EINTR ? wait_through(p) : -EPROTO;
}

static int
hear_interrupt_and_leave(struct part *p)
{
	int error = flk_wait(p->t, NULL, NULL);

	return error == -EINTR ? flk_leave(p->t) : -EPROTO;
}

static int
take_one_through(struct part *p)
{
	int error = line_up_for_one_and_heed(p);

	return error == -EINPROGRESS ? wait_through(p) : error;
}

/* ---- what the others do ---- */

static void
third_comes(struct stage *s)
{
	act(s, THIRD, take_one);
}

static void
interrupt_actor(struct stage *s, enum role who)
{
	if (s->cast[who].where != ASLEEP) {
		stage_fail(s, "%s does not sleep", stage_roles[who]);
		return;
	}
	actor_signal(&s->cast[who]);
	if (s->cast[who].where != WOKEN)
		stage_fail(s, "%s sleeps on, and was interrupted", stage_roles[who]);
}

static void
interrupt_victim(struct stage *s)
{
	interrupt_actor(s, VICTIM);
}

static void
interrupt_victim_and_release(struct stage *s)
{
	interrupt_victim(s);
	first_releases(s);
}

static void
release_and_interrupt_victim(struct stage *s)
{
	first_releases(s);
	actor_signal(&s->cast[VICTIM]);
}

static void
interrupt_victim_and_second_dies(struct stage *s)
{
	interrupt_victim(s);
	second_dies(s);
}

static void
second_dies_and_interrupt_victim(struct stage *s)
{
	second_dies(s);
	actor_signal(&s->cast[VICTIM]);
}

/* The second has not run since. */
static void
interrupted_second_behind(struct stage *s)
{
	act(s, SECOND, take_one_through);
	third_comes(s);
	interrupt_actor(s, SECOND);
}

/* ---- the table ---- */

#define SLEEPS_AGAIN (-EINPROGRESS) /* the code of a deed that ends asleep */

const struct operation interrupt_operations[] = {
	{ "interrupt", "flk_interrupt", first_holds, line_up_for_all, two_behind, interrupt, NULL,
	  0, NULL, 0 },
	{ "be interrupted at the head", "flk_interrupt flk_wait", first_holds, interrupted_in_line,
	  two_behind, hear_interrupt_and_wait_on, first_releases, 0, NULL, 0 },
	{ "be interrupted in the middle", "flk_interrupt flk_wait", first_holds_second_waits,
	  interrupted_in_line_for_one, third_comes, hear_interrupt_and_wait_on, first_releases, 0,
	  NULL, 0 },
	{ "be interrupted, and leave", "flk_interrupt flk_leave", first_holds, interrupted_in_line,
	  two_behind, hear_interrupt_and_leave, NULL, 0, NULL, 0 },
	{ "be interrupted asleep at the head", "flk_interrupt flk_wait", first_holds,
	  line_up_for_all_and_heed, two_behind, wait_through, interrupt_victim, SLEEPS_AGAIN, NULL,
	  0 },
	{ "be interrupted asleep in the middle", "flk_interrupt flk_wait", first_holds_second_waits,
	  line_up_for_one_and_heed, third_comes, wait_through, interrupt_victim, SLEEPS_AGAIN, NULL,
	  0 },
	{ "be interrupted and then granted", "flk_interrupt flk_wait", first_holds_second_waits,
	  line_up_for_one_and_heed, third_comes, wait_through, interrupt_victim_and_release, 0,
	  NULL, 0 },
	{ "be granted and then interrupted", "flk_interrupt flk_wait", first_holds_second_waits,
	  line_up_for_one_and_heed, third_comes, wait_through, release_and_interrupt_victim, 0,
	  NULL, 0 },
	{ "be interrupted, and the one before it dies", "flk_interrupt flk_wait",
	  first_holds_second_waits, line_up_for_one_and_heed, third_comes, wait_through,
	  interrupt_victim_and_second_dies, SLEEPS_AGAIN, NULL, 0 },
	{ "be interrupted when the one before it is dead", "flk_interrupt flk_wait",
	  first_holds_second_waits, line_up_for_one_and_heed, third_comes, wait_through,
	  second_dies_and_interrupt_victim, SLEEPS_AGAIN, NULL, 0 },
	{ "release, and the head is interrupted", "flk_interrupt flk_release", NULL, take_all,
	  interrupted_second_behind, release, NULL, 0, NULL, 0 },
	{ "leave, and the one behind is interrupted", "flk_interrupt flk_leave", first_holds,
	  line_up_for_all, interrupted_second_behind, leave, NULL, 0, NULL, 0 },
};

const unsigned interrupt_operations_count =
    sizeof(interrupt_operations) / sizeof(interrupt_operations[0]);
