/* SPDX-License-Identifier: ISC */
/*
 * steering.c - the settings of a limiter, played through with its events.  The arithmetic of the pace
 * is that of lib/pace.c.
 */
#include "steering.h"

#include "clock.h"

static uint64_t
times(uint64_t a, uint64_t b)
{
	return b == 0 || a <= UINT64_MAX / b ? a * b : UINT64_MAX;
}

/* An event has the whole pace: the parts that it did not set are those from before. */
static struct flk_pace
pace_before(const struct flk_event *e)
{
	struct flk_pace p = e->pace;

	if ((e->code & FLK_RATE) != 0)
		p.interval_ns = p.burst = 0;
	if ((e->code & FLK_STAGGER) != 0)
		p.stagger_ns = 0;
	if ((e->code & FLK_RAMP) != 0)
		p.ramp_from = 0;
	return p;
}

/* Forwards OFF, or backwards ON, makes the seat one that is out of use. */
static void
set_seat(struct steering *t, const struct flk_event *e, uint32_t off)
{
	uint64_t seat = UINT64_C(1) << ((uint32_t)e->code % FLK_SEATS);

	if (e->kind == off)
		t->seats_off |= seat;
	else if (e->kind == FLK_EV_SEAT_OFF || e->kind == FLK_EV_SEAT_ON)
		t->seats_off &= ~seat;
}

void
steering_begin(struct steering *t, const struct flk_event *event, size_t events,
	       const struct flk_snapshot *s)
{
	bool paused = false, overridden = false, paced = false, gated = false;
	int64_t withheld = s->withheld;
	size_t i;

	*t = (struct steering){ .override = s->override,
				.paused = s->paused,
				.pace = s->pace,
				.gated = s->gate.when[0] != '\0' };
	for (i = 0; i < events; i++) {
		const struct flk_event *e = &event[i];
		if (!paused && (e->kind == FLK_EV_PAUSED || e->kind == FLK_EV_RESUMED)) {
			paused = true;
			t->paused = false;
			t->perhaps_paused = e->kind == FLK_EV_RESUMED;
		}
		if (!overridden && e->kind == FLK_EV_OVERRIDE) {
			overridden = t->override_unknown = true;
			t->override = FLK_AUTO;
		}
		if (!paced && e->kind == FLK_EV_PACED) {
			paced = true;
			t->pace_unknown = event[0].number > 1; /* no limiter is born with a pace */
			t->pace = pace_before(e);
		}
		if (!gated && e->kind == FLK_EV_GATE) {
			gated = true;
			t->gated = false;
			t->gate_unknown = event[0].number > 1; /* nor with a gate */
		}
		if (e->kind == FLK_EV_FORGOT)
			withheld -= e->code;
		else if (e->kind == FLK_EV_RESTORED)
			withheld += e->code;
	}
	t->withheld = withheld > 0 ? (uint64_t)withheld : 0;
	t->seats_off = s->seats_off;
	for (i = events; i > 0; i--)
		set_seat(t, &event[i - 1], FLK_EV_SEAT_ON);
}

static bool
is_paced(const struct steering *t)
{
	return t->pace.interval_ns != 0 || t->pace.stagger_ns != 0 || t->pace.ramp_from != 0;
}

static void
count_start(struct steering *t, uint64_t now, size_t holders)
{
	if (!is_paced(t))
		return;
	t->last_ns = now;
	if (t->pace.interval_ns != 0)
		t->free_ns = flki_plus(t->free_ns > now ? t->free_ns : now, t->pace.interval_ns);
	if (t->pace.ramp_from != 0 && holders == 0 &&
	    (t->ramp_since_ns == 0 || now >= flki_plus(t->idle_since_ns, t->pace.ramp_idle_ns)))
		t->ramp_since_ns = now;
}

static void
set_pace(struct steering *t, const struct flk_event *e)
{
	uint64_t most = flki_plus(e->when_ns, times(e->pace.burst, e->pace.interval_ns));

	t->pace = e->pace;
	t->pace_unknown = false;
	if ((e->code & FLK_RAMP) != 0)
		t->ramp_since_ns = e->when_ns;
	if (t->pace.interval_ns != 0 && t->free_ns > most)
		t->free_ns = most;
}

void
steering_happen(struct steering *t, const struct flk_event *e, size_t before, size_t after)
{
	switch (e->kind) {
	case FLK_EV_GRANTED:
		count_start(t, e->when_ns, before);
		break;
	case FLK_EV_PAUSED:
	case FLK_EV_RESUMED:
		t->paused = e->kind == FLK_EV_PAUSED;
		t->perhaps_paused = false;
		break;
	case FLK_EV_OVERRIDE:
		t->override = e->code;
		t->override_unknown = false;
		break;
	case FLK_EV_PACED:
		set_pace(t, e);
		break;
	case FLK_EV_SEAT_OFF:
	case FLK_EV_SEAT_ON:
		set_seat(t, e, FLK_EV_SEAT_OFF);
		break;
	case FLK_EV_GATE:
		t->gated = e->when[0] != '\0';
		t->gate_unknown = false;
		break;
	case FLK_EV_GATED:
		if (e->when[0] == '\0')
			t->asking = e->ticket;
		break;
	case FLK_EV_FORGOT:
		t->withheld += (uint32_t)e->code;
		break;
	case FLK_EV_RESTORED:
		t->withheld -= t->withheld < (uint32_t)e->code ? t->withheld : (uint32_t)e->code;
		break;
	default:
		break;
	}
	if (before > 0 && after == 0)
		t->idle_since_ns = e->when_ns;
}

uint64_t
steering_capacity(const struct steering *t, uint64_t at_ns)
{
	const struct flk_pace *p = &t->pace;

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
	const struct flk_pace *p = &t->pace;

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
	const struct flk_pace *p = &t->pace;
	uint64_t ahead = p->burst > 0 ? times(p->burst - 1, p->interval_ns) : 0, rate = 0,
		 stagger = 0;

	if (p->interval_ns != 0 && t->free_ns > ahead)
		rate = t->free_ns - ahead;
	if (p->stagger_ns != 0 && t->last_ns != 0)
		stagger = flki_plus(t->last_ns, p->stagger_ns);
	return rate > stagger ? rate : stagger;
}
