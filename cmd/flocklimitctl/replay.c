/* SPDX-License-Identifier: ISC */
/*
 * replay.c - the settings of a limiter, played through with its events.
 */
#include "replay.h"

#include "setting.h"

/* The number that the event sets, or NULL. */
static const struct flki_number *
number_of(const struct flk_event *e)
{
	const struct flki_number *n;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if (e->kind == n->set || e->kind == n->over)
			return n;
	return NULL;
}

/* Forwards OFF, or backwards ON, makes the seat one that is out of use. */
static void
set_seat(struct replay *r, const struct flk_event *e, uint32_t off)
{
	uint64_t seat = UINT64_C(1) << ((uint32_t)e->code % FLK_SEATS);

	if (e->kind == off)
		r->set.seats_off |= seat;
	else if (e->kind == FLK_EV_SEAT_OFF || e->kind == FLK_EV_SEAT_ON)
		r->set.seats_off &= ~seat;
}

/* An event has the whole pace: the parts that it did not set are those from before. */
static struct flk_pace
pace_before(const struct flk_event *e)
{
	struct flk_pace p = e->pace;

	if ((e->code & FLK_SET_RATE) != 0)
		p.interval_ns = p.burst = 0;
	if ((e->code & FLK_SET_STAGGER) != 0)
		p.stagger_ns = 0;
	if ((e->code & FLK_SET_RAMP) != 0)
		p.ramp_from = 0;
	return p;
}

/* This event is the first that sets what it sets; no limiter is born with a pace or a gate. */
static void
take_back(struct replay *r, const struct flk_event *e, bool from_birth, unsigned *seen)
{
	const struct flki_number *n = number_of(e);
	unsigned which = n != NULL                 ? n->which
			 : e->kind == FLK_EV_PACED ? FLK_SET_PACE
			 : e->kind == FLK_EV_GATE  ? FLK_SET_GATE
						   : 0;

	if ((*seen & which) != 0 || which == 0 || which == FLK_SET_DECLARED)
		return;
	*seen |= which;
	if (n != NULL || !from_birth)
		r->unknown |= which;
	if (n != NULL)
		flki_number_put(n, &r->set, n->none);
	else if (e->kind == FLK_EV_PACED)
		r->set.pace = pace_before(e);
	else
		r->set.gate.when[0] = '\0';
	if (e->kind == FLK_EV_RESUMED)
		r->perhaps_paused = true;
}

void
replay_begin(struct replay *r, const struct flk_event *event, size_t events,
	     const struct flk_snapshot *s, uint64_t until_ns)
{
	int64_t withheld = s->set.withheld;
	bool from_birth = events > 0 && event[0].number <= 1, limited = false;
	unsigned seen = 0;
	size_t i;

	*r = (struct replay){ .set = s->set };
	for (i = 0; i < events; i++) {
		const struct flk_event *e = &event[i];
		take_back(r, e, from_birth, &seen);
		if (!limited && e->limit != 0) {
			limited = true;
			r->set.declared = e->limit;
		}
		if (e->when_ns > until_ns)
			continue;
		if (e->kind == FLK_EV_FORGOT)
			withheld -= e->code;
		else if (e->kind == FLK_EV_RESTORED)
			withheld += e->code;
	}
	r->set.withheld = withheld > 0 ? (uint32_t)withheld : 0;
	for (i = events; i > 0; i--)
		set_seat(r, &event[i - 1], FLK_EV_SEAT_ON);
}

void
replay_happen(struct replay *r, const struct flk_event *e)
{
	const struct flki_number *n = number_of(e);
	uint32_t units = (uint32_t)e->code;

	if (n != NULL) {
		r->unknown &= ~(unsigned)n->which;
		flki_number_put(n, &r->set,
				n->kind != FLKI_SWITCH ? e->code
				: e->kind == n->set    ? 1
						       : 0);
	}
	switch (e->kind) {
	case FLK_EV_GRANTED:
		r->set.declared = e->limit;
		break;
	case FLK_EV_PAUSED:
	case FLK_EV_RESUMED:
		r->perhaps_paused = false;
		break;
	case FLK_EV_PACED:
		r->unknown &= ~(unsigned)FLK_SET_PACE;
		r->set.pace = e->pace;
		break;
	case FLK_EV_GATE:
		r->unknown &= ~(unsigned)FLK_SET_GATE;
		r->set.gate.when[0] = e->when[0];
		r->set.gate.when[1] = '\0';
		break;
	case FLK_EV_FORGOT:
		r->set.withheld += units;
		break;
	case FLK_EV_RESTORED:
		r->set.withheld -= r->set.withheld < units ? r->set.withheld : units;
		break;
	default:
		set_seat(r, e, FLK_EV_SEAT_OFF);
		break;
	}
}
