/* SPDX-License-Identifier: ISC */
/*
 * round.c - one round: the stage is set, the victim killed, and its mender too; and then
 * all that must hold is asked.
 */
#include "killstep.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct trace trace, second_trace;

/* The victim sleeps: what ends that?  False if nothing will. */
static bool
end_sleep(struct stage *s, struct actor *a, bool *helped)
{
	if (a != &s->cast[VICTIM])
		return false;
	if (s->op->asleep != NULL && !*helped) {
		*helped = true;
		s->op->asleep(s);
		actor_refresh(a);
	} else if (s->op->flags & SLEEPS_ON) {
		actor_wait_up(a);
	}
	return a->where != ASLEEP;
}

/*
 * Lets it go on for so many points, or to the end of what it does; returns how many it was.  With
 * `record' the trace is written, without it is made use of.
 */
static long
walk(struct stage *s, struct actor *a, long points, struct trace *t, bool record)
{
	bool helped = false, called;
	long at = 0, leapt;

	a->desk->steps = true;
	if (record) {
		trace_reset(t);
		trace_add(t, a, stage_remains(s, a));
	}
	while (at < points && !s->failed && !a->loose) {
		if (a->where == ASLEEP && !end_sleep(s, a, &helped))
			break;
		if (!record && points <= t->points) {
			leapt = actor_leap(a, t, at, points);
			if (leapt != at) {
				at = leapt;
				continue;
			}
		}
		called = a->call != -1;
		if (!actor_step(a))
			break;
		at++;
		if (!record)
			continue;
		if (called)
			stage_look_around(s); /* it may have woken somebody */
		trace_add(t, a, stage_remains(s, a));
	}
	if (record)
		trace_finish(t);
	if (a->crash != 0)
		stage_fail(s, "killed by signal %d, not by us", a->crash);
	return at;
}

static void
set_up(struct stage *s, const struct operation *op)
{
	struct actor *victim = &s->cast[VICTIM];

	stage_open(s, op);
	if (op->before != NULL)
		op->before(s);
	actor_start(victim, s->path);
	if (!(op->flags & RAW)) {
		actor_do_at_once(victim, come);
		if (victim->desk->code != 0)
			stage_fail(s, "the victim can't come");
	}
	if (op->ready != NULL)
		actor_do_at_once(victim, op->ready);
	if (op->around != NULL)
		op->around(s);
	actor_begin(victim, op->steps);
}

/* Who comes to mend what the victim left: one who was woken by it, or a newcomer, or nobody. */
static struct actor *
mender(struct stage *s, unsigned style)
{
	int i, who;

	stage_look_around(s);
	if (s->eye != NULL && atomic_load(&s->eye->file.h->damaged) != 0 &&
	    s->cast[STEWARD].where == AT_DESK) {
		actor_begin(&s->cast[STEWARD], repair);
		return &s->cast[STEWARD];
	}
	for (i = 0; i < CAST; i++) {
		who = style & BACKWARD ? CAST - 1 - i : i;
		if (s->cast[who].where == WOKEN)
			return &s->cast[who];
	}
	if (s->op->flags & NO_FILE || atomic_load(&s->eye->file.h->dead) != 0) {
		actor_start(&s->cast[VICTIM], s->path);
		actor_begin(&s->cast[VICTIM], s->op->flags & NO_FILE ? s->op->steps : be_made);
		return &s->cast[VICTIM];
	}
	if (s->eye->file.h->lock == 0 || s->cast[STEWARD].where != AT_DESK)
		return NULL;
	actor_begin(&s->cast[STEWARD], take_one);
	return &s->cast[STEWARD];
}

/*
 * Killed after k, and if j is not -1 the mender after j; true if all that must hold then does.
 * With `record' the mender's trace is taken and it is killed at the end; *points is where it was.
 */
bool
play(struct stage *s, const struct operation *op, long k, long j, unsigned style, bool record,
     long *points)
{
	struct actor *a;

	set_up(s, op);
	walk(s, &s->cast[VICTIM], k, &trace, false);
	stage_note_told(s);
	actor_kill(&s->cast[VICTIM]);
	if (j >= 0) {
		a = mender(s, style);
		*points = a == NULL ? -1 : walk(s, a, j, &second_trace, record);
		if (a != NULL)
			actor_kill(a);
		else if (record)
			second_trace.points = -1;
	}
	stage_look_around(s);
	if (op->after != NULL && !s->failed)
		op->after(s);
	if (!record || !s->failed)
		stage_drain(s, style);
	stage_close(s);
	return !s->failed;
}

/* All of it, unharmed: its trace, and that it does what the table says. */
bool
rehearse(struct stage *s, const struct operation *op)
{
	struct actor *victim = &s->cast[VICTIM];
	int code;

	set_up(s, op);
	walk(s, victim, LONG_MAX, &trace, true);
	code = victim->where == ASLEEP ? -EINPROGRESS : victim->desk->code;
	if (code != op->code)
		stage_fail(s, "it returns %d (%s), not %d", code, flk_strerror(code), op->code);
	actor_kill(victim);
	stage_look_around(s);
	if (op->after != NULL && !s->failed)
		op->after(s);
	stage_drain(s, 0);
	stage_close(s);
	return !s->failed;
}
