/* SPDX-License-Identifier: ISC */
/*
 * pin.c - see pin.h.
 *
 * What must hold: no task of the command may run on a CPU whose unit the limiter has given to another.
 * So the permit shrinks only after a pass over all tasks below us that found none on a CPU to be given,
 * and another such pass a tick later: a task that was forked before its parent was moved has its parent's
 * old CPUs, and may not have been listed yet in the first.  And a task gets a CPU only when the permit has
 * grown by it.
 *
 * A task may have chosen fewer CPUs itself, by sched_setaffinity(2): then it keeps those of them that
 * remain, if any do.  One that has exactly the CPUs that we gave did not choose.
 */
#include "pin.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpus.h"
#include "give.h"
#include "limiter.h"
#include "now.h"
#include "options.h"
#include "proc.h"
#include "say.h"
#include "seats.h"
#include "spawn.h"
#include "tree.h"

#define TICK_NS  (SECOND / 5)
#define QUIET_NS SECOND
#define CLEAN    2
#define VAIN     3  /* looks in a row that did not come to an end */
#define LOOKS    20 /* or so many without CLEAN ones in a row */

struct pin {
	const char *name; /* of the limiter */
	bool quiet;
	struct flk *limiter;
	uint64_t ticket;
	uint32_t least, most;
	bool tends;  /* it has more than one unit, or may have: some may go, or come */
	bool is_cut; /* the limiter's file was cut short */
	struct cpus usable, set, was; /* ours; what the command's tasks get, and got before that */
	struct flk_permit now;
	uint32_t gives;    /* so many units, as soon as no task is on their CPUs; 0: none */
	unsigned clean;    /* so many passes in a row had nothing to move; CLEAN is enough */
	unsigned vain;     /* and so many had still something to move */
	unsigned looks;    /* and so many there were since they last changed */
	bool applied;      /* a pass was made since they last changed */
	bool is_stuck;     /* a task can't be moved: nothing is given any more */
	bool rests;        /* there is nothing to do until something happens in the limiter */
	uint64_t seen;     /* the last event of it that we know */
	uint64_t quiet_ns; /* since when nobody waits; 0: somebody does */
	uint64_t due;      /* of the next look */
};

/* The limit in force before there is a permit. */
static uint32_t
limit_now(const struct options *o, struct flk *limiter, bool *is_override)
{
	struct flk_settings set;

	*is_override = flk_get(limiter, &set) == 0 && set.override >= 0;
	if (*is_override)
		return (uint32_t)set.override;
	return limiter_declared(&o->want, limiter);
}

int
pin_check(const struct options *o, struct flk *limiter)
{
	long online = sysconf(_SC_NPROCESSORS_ONLN);
	bool is_override;
	uint32_t limit = limit_now(o, limiter, &is_override), n;
	char of[32] = "";
	struct cpus usable;

	if (!cpus_read(0, &usable)) {
		say(o->want.limiter, "--pin: the usable CPUs can't be read: %s", strerror(errno));
		return OPTION_BAD;
	}
	n = cpus_count(&usable);
	if (limit <= n && limit <= FLK_SEATS)
		return 0;
	if ((long)n < online)
		snprintf(of, sizeof(of), " (of %ld)", online);
	if (n >= FLK_SEATS)
		say(o->want.limiter,
		    "--pin: the limit of %" PRIu32 " is above %d, where seats for each unit end: "
		    "use -n %d, or less",
		    limit, FLK_SEATS, FLK_SEATS);
	else if (is_override)
		say(o->want.limiter,
		    "--pin: the limit of %" PRIu32 " that an operator set is above the %" PRIu32
		    " usable CPUs%s: use flocklimitctl limit %s %" PRIu32 ", or auto",
		    limit, n, of, o->want.limiter, n);
	else
		say(o->want.limiter,
		    "--pin: the limit of %" PRIu32 " is above the %" PRIu32
		    " usable CPUs%s: use -n 100%%, or less",
		    limit, n, of);
	return OPTION_BAD;
}

struct pin *
pin_new(const struct options *o, struct flk *limiter, const struct flk_permit *permit)
{
	struct pin *p = calloc(1, sizeof(*p));

	if (p == NULL || !cpus_read(0, &p->usable)) {
		free(p);
		return NULL;
	}
	p->name = o->want.limiter;
	p->quiet = o->want.how.quiet;
	p->limiter = limiter;
	p->ticket = permit->ticket;
	p->least = o->want.request.weight;
	p->most = o->want.request.most;
	p->now = *permit;
	p->tends = p->most > 1 || p->now.weight > 1;
	if (p->tends && !tree_is_seen()) {
		p->tends = false;
		if (!p->quiet && p->most > p->least)
			say(p->name, "--pin: /proc does not show all processes here, so the "
				     "command gives no CPU back");
	}
	cpus_of_seats(&p->usable, permit->seats, &p->set);
	p->was = p->set;
	return p;
}

void
pin_free(struct pin *p)
{
	free(p);
}

bool
pin_adopts(const struct pin *p)
{
	return p != NULL && p->tends;
}

int
pin_enter(const struct pin *p)
{
	if (cpus_count(&p->set) == 0)
		return EINVAL;
	return sched_setaffinity(0, CPUS_SIZE, p->set.of) == 0 ? 0 : errno;
}

void
pin_leave(const struct pin *p)
{
	sched_setaffinity(0, CPUS_SIZE, p->usable.of);
}

/* ---- the command's tasks ---- */

struct pass {
	const struct pin *p;
	struct cpus
	    allowed; /* ours now: another flocklimit --pin around us may have made them fewer */
	bool moved;
};

/* Whether it may have run where it must not; then it is moved, if we may move it. */
static bool
move_task(const struct pass *c, pid_t tid)
{
	const struct pin *p = c->p;
	struct cpus now, to, after;

	if (!cpus_read(tid, &now))
		return errno != ESRCH; /* it has ended */
	cpus_of_task(&now, &p->was, &p->set, &c->allowed, &to);
	if (cpus_are_same(&now, &to))
		return false;
	if (sched_setaffinity(tid, CPUS_SIZE, to.of) != 0)
		return errno != ESRCH;
	/* In a cpuset of its own it may have been there already; or it has moved away again. */
	return cpus_read(tid, &after) &&
	       (!cpus_are_same(&now, &after) || !cpus_are_within(&after, &to));
}

static void
move_process(void *pass, pid_t pid)
{
	struct pass *c = pass;
	char path[PROC_PATH];
	DIR *tasks = opendir(flki_proc_path(pid, "task", path));
	pid_t tid;

	c->moved |= tasks == NULL && errno != ENOENT && errno != ESRCH;
	while ((tid = flki_next_number(tasks)) != -1)
		c->moved |= move_task(c, tid);
	if (tasks != NULL)
		closedir(tasks);
}

/*
 * Until nothing is left to move, but not for ever: there may be what we may not move.  A pass that may have
 * missed some is none.
 */
static void
move_all(struct pin *p, pid_t ours)
{
	struct pass c = { .p = p, .moved = true };
	int passes;

	if (!cpus_read(0, &c.allowed))
		c.allowed = p->usable;
	for (passes = 0; c.moved && passes < 10; passes++) {
		c.moved = false;
		c.moved |= !tree_each(ours, move_process, &c);
	}
	p->clean = passes == 1 && !c.moved ? p->clean + 1 : 0;
	p->vain = c.moved ? p->vain + 1 : 0;
	p->looks++;
	p->applied = true;
}

/* Its tasks are to run there from now on. */
static void
set_cpus(struct pin *p, uint64_t seats)
{
	p->was = p->set;
	cpus_of_seats(&p->usable, seats, &p->set);
	p->clean = p->looks = 0;
	p->applied = false;
}

/* ---- the permit ---- */

static uint64_t
seats_after(const struct pin *p, uint32_t gives)
{
	return seats_kept(p->now.seats, p->now.seat, p->now.weight - gives);
}

/* What an operator has taken from it, it does not take again. */
static bool
read_permit(struct pin *p, const struct flk_snapshot *s)
{
	uint32_t i;

	for (i = 0; i < s->holders && s->entry[i].ticket != p->ticket; i++)
		;
	if (i == s->holders)
		return false;
	if (s->entry[i].weight < p->now.weight)
		p->most -= p->now.weight - s->entry[i].weight;
	if (s->entry[i].weight != p->now.weight) {
		p->now.weight = s->entry[i].weight;
		p->now.seats = s->entry[i].seats;
		p->gives = 0;
		set_cpus(p, p->now.seats);
	}
	return true;
}

/* Never its own seat, which may be its only CPU. */
static void
narrow(struct pin *p, uint64_t want)
{
	uint32_t spare = p->now.weight > p->least ? p->now.weight - p->least : 0;

	p->gives = want < spare ? (uint32_t)want : spare;
	if (p->gives > 0)
		set_cpus(p, seats_after(p, p->gives));
}

/* Others have come meanwhile, or it is not its only CPU: then it keeps what it has, and looks again. */
static void
give(struct pin *p)
{
	uint32_t gives = p->gives;

	p->gives = 0;
	p->rests = false;
	if (flk_shrink(p->limiter, p->ticket, gives) != 0) {
		set_cpus(p, p->now.seats);
		return;
	}
	p->now.seats = seats_after(p, gives);
	p->now.weight -= gives;
	p->clean = 0; /* for what the passes may have missed */
}

/* Some of its tasks, of another user perhaps, can't be moved, or move away again: then none needs to. */
static void
give_up(struct pin *p)
{
	p->is_stuck = true;
	p->gives = 0;
	set_cpus(p, p->now.seats);
	if (!p->quiet)
		say(p->name,
		    "--pin: not all of the command's processes can be moved, or stay where they "
		    "are: they run on CPUs that others may have, and it gives no CPU back");
}

static void
take_again(struct pin *p, uint64_t now)
{
	if (p->gives > 0) {
		p->gives = 0;
		set_cpus(p, p->now.seats);
	}
	if (p->quiet_ns == 0)
		p->quiet_ns = now;
	if (p->now.weight >= p->most)
		return;
	p->rests = now - p->quiet_ns >= QUIET_NS;
	if (p->rests && flk_grow(p->limiter, p->ticket, p->most - p->now.weight) == 0)
		p->rests = false; /* the next look reads what it has got */
}

/* Whether anything has happened in the limiter since the last look. */
static bool
has_news(struct pin *p)
{
	struct flk_event e[16];
	bool any = false;
	size_t n;

	while ((n = flk_history(p->limiter, p->seen, e, 16)) > 0) {
		p->seen = e[n - 1].number;
		any = true;
	}
	return any;
}

static void
look(struct pin *p, pid_t ours, uint64_t now)
{
	bool news = has_news(p);
	struct flk_snapshot *s;
	uint64_t want;

	if (p->clean < CLEAN)
		move_all(p, ours);
	if (p->gives > 0 && p->clean >= CLEAN)
		give(p);
	else if (p->clean < CLEAN && !p->is_stuck && (p->vain >= VAIN || p->looks >= LOOKS))
		give_up(p);
	if ((p->rests && !news) || flk_snapshot(p->limiter, &s) != 0)
		return;
	p->rests = true;
	if (read_permit(p, s)) {
		want = give_wanted(s, p->least, now);
		if (want > 0 || s->waiters > 0) {
			p->quiet_ns = 0;
			/* Tasks have the last set before there is another: else they would seem to have chosen it. */
			p->rests = p->applied && s->next_start_ns <= now;
			if (p->gives == 0 && p->applied && !p->is_stuck)
				narrow(p, want);
		} else {
			take_again(p, now);
		}
	}
	free(s);
}

uint64_t
pin_look(struct pin *p, pid_t ours)
{
	uint64_t now = now_ns();
	sigjmp_buf cut;

	if (!pin_adopts(p) || p->is_cut)
		return NEVER;
	if (now < p->due)
		return p->due;
	/* A file that was cut short has no permits left, and must not be touched again. */
	if (sigsetjmp(cut, 1) != 0) {
		fault_jump = NULL;
		p->is_cut = true;
		set_cpus(p, p->now.seats); /* and none is given */
		move_all(p, ours);
		return NEVER;
	}
	fault_jump = &cut;
	if (flk_verify(p->limiter) != -FLK_DAMAGED)
		look(p, ours, now);
	fault_jump = NULL;
	/* From its end: what runs is to have a tick's time between two looks. */
	p->due = now_ns() + (TICK_NS << (p->vain < 4 ? p->vain : 4));
	return p->due;
}
