/* SPDX-License-Identifier: ISC */
/*
 * steering.c - the pace of a limiter, played through with its events, by the arithmetic of lib/pace.c.
 */
#include "steering.h"

#include "clock.h"

static uint64_t
times(uint64_t a, uint64_t b)
{
	return b == 0 || a <= UINT64_MAX / b ? a * b : UINT64_MAX;
}

static bool
is_paced(const struct steering *t)
{
	return t->at.set.pace.interval_ns != 0 || t->at.set.pace.stagger_ns != 0 ||
	       t->at.set.pace.ramp_from != 0;
}

static void
count_start(struct steering *t, uint64_t now, size_t holders)
{
	if (!is_paced(t))
		return;
	t->last_ns = now;
	if (t->at.set.pace.interval_ns != 0)
		t->free_ns =
		    flki_plus(t->free_ns > now ? t->free_ns : now, t->at.set.pace.interval_ns);
	if (t->at.set.pace.ramp_from != 0 && holders == 0 &&
	    (t->ramp_since_ns == 0 ||
	     now >= flki_plus(t->idle_since_ns, t->at.set.pace.ramp_idle_ns)))
		t->ramp_since_ns = now;
}

static void
set_pace(struct steering *t, const struct flk_event *e)
{
	uint64_t most = flki_plus(e->when_ns, times(e->pace.burst, e->pace.interval_ns));

	if ((e->code & FLK_SET_RAMP) != 0)
		t->ramp_since_ns = e->when_ns;
	if (e->pace.interval_ns != 0 && t->free_ns > most)
		t->free_ns = most;
}

void
steering_begin(struct steering *t, const struct flk_event *event, size_t events,
	       const struct flk_snapshot *s)
{
	*t = (struct steering){ .asking = 0 };
	replay_begin(&t->at, event, events, s, UINT64_MAX);
}

void
steering_happen(struct steering *t, const struct flk_event *e, size_t before, size_t after)
{
	replay_happen(&t->at, e);
	if (e->kind == FLK_EV_GRANTED)
		count_start(t, e->when_ns, before);
	else if (e->kind == FLK_EV_PACED)
		set_pace(t, e);
	else if (e->kind == FLK_EV_GATED && e->when[0] == '\0')
		t->asking = e->ticket;
	if (before > 0 && after == 0)
		t->idle_since_ns = e->when_ns;
}

uint64_t
steering_capacity(const struct steering *t, uint64_t at_ns)
{
	const struct flk_pace *p = &t->at.set.pace;

	if (p->ramp_from == 0)
		return UINT64_MAX;
	if (at_ns < t->ramp_since_ns || t->ramp_since_ns == 0 || p->ramp_period_ns == 0)
		return p->ramp_from;
	return flki_plus(p->ramp_from,
			 times((at_ns - t->ramp_since_ns) / p->ramp_period_ns, p->ramp_step));
}

uint64_t
steering_ramp_reaches(const struct steering *t, uint64_t units)
{
	const struct flk_pace *p = &t->at.set.pace;

	if (units <= p->ramp_from)
		return t->ramp_since_ns;
	if (p->ramp_step == 0 || p->ramp_period_ns == 0)
		return UINT64_MAX;
	return flki_plus(t->ramp_since_ns,
			 times((units - p->ramp_from - 1) / p->ramp_step + 1, p->ramp_period_ns));
}

uint64_t
steering_start(const struct steering *t)
{
	const struct flk_pace *p = &t->at.set.pace;
	uint64_t ahead = p->burst > 0 ? times(p->burst - 1, p->interval_ns) : 0, rate = 0,
		 stagger = 0;

	if (p->interval_ns != 0 && t->free_ns > ahead)
		rate = t->free_ns - ahead;
	if (p->stagger_ns != 0 && t->last_ns != 0)
		stagger = flki_plus(t->last_ns, p->stagger_ns);
	return rate > stagger ? rate : stagger;
}
