/* SPDX-License-Identifier: ISC */
/*
 * request.c - what a taker asks for, as its slot has it, with what must hold of that; and where a
 * newcomer stands in the line: at its end, but for the waiters that consent to be passed.
 *
 * A place in the line is a number, a slot's `order'.  Each ticket has a place, PLACE_GAP above that
 * of the ticket before it, and between the two there is room for newcomers that pass the later one.
 * Tickets are drawn one by one, whatever the index says.  So where two takers were inside and tore
 * the line, a newcomer still stands behind all waiters that it did not find there.
 *
 * Before its place comes its tag.  In a fair limiter that alone decides whom a newcomer passes; in any
 * other it has the tag of those that it stands among.
 */
#include "state.h"

void
flki_state_ask(struct slot *s, const struct flk_request *want)
{
	s->least = want->weight != 0 ? want->weight : 1;
	s->most = want->most != 0 ? want->most : s->least;
	s->yield = want->yield;
	s->not_seats = want->not_seats;
	s->share = want->share;
}

const char *
flki_state_asked_wrongly(const struct slot *s)
{
	if (s->kind == TAKER && s->weight != s->least)
		return "a waiter has another weight than it asked for";
	if (s->passed_by > s->yield)
		return "a waiter was passed more often than it consented to";
	return NULL;
}

void
flki_state_mend_asked(struct slot *s)
{
	s->weight = s->least;
	if (s->passed_by > s->yield)
		s->passed_by = s->yield;
}

/* ---- the place in the line ---- */

/*
 * Waiter `before' consented to be passed by more newcomers than have passed it, and to more than
 * the newcomer itself consents to.  No taker passes a barrier, which waits for all that came before.
 */
static bool
lets_pass(const struct slot *before, const struct slot *newcomer)
{
	return before->kind == TAKER && newcomer->kind == TAKER &&
	       before->passed_by < before->yield && newcomer->yield < before->yield;
}

static uint32_t
pass_by_tag(struct state *st, const struct slot *s)
{
	uint32_t i = st->h->waiting.tail, passed = 0, left;

	for (left = st->n; i != NIL && left > 0; left--) {
		const struct slot *before = flki_state_at(st, i);
		if (before->tag <= s->tag)
			break;
		i = before->prev;
		passed++;
	}
	return passed;
}

/*
 * The place of newcomer s: its ticket's, at the end of the line, or if the last waiters consent, one
 * before those.  That is a number between the place of the first waiter that it passes and the next
 * lower one, of a ticket or a waiter.  A newcomer that may be passed itself takes the middle, any
 * other the lowest, so that there is room for the next one.  Where no number is free it passes fewer:
 * the waiters consented to that, too.  Each waiter that it passes is counted.
 */
static uint32_t
pass_by_consent(struct state *st, struct slot *s)
{
	uint32_t i = st->h->waiting.tail, passed = 0, fits = 0, left;
	uint64_t above, below;

	for (left = st->n; i != NIL && left > 0; left--) {
		const struct slot *before = flki_state_at(st, i), *next;
		if (!lets_pass(before, s))
			break;
		above = before->order;
		i = before->prev;
		passed++;
		below = (above - 1) / PLACE_GAP * PLACE_GAP;
		next = i != NIL ? flki_state_at(st, i) : NULL;
		if (next != NULL && next->tag == before->tag && next->order > below)
			below = next->order;
		if (above - below >= 2) {
			s->order = s->yield > 0 ? below + (above - below) / 2 : below + 1;
			s->tag = before->tag;
			fits = passed;
		}
	}
	for (i = st->h->waiting.tail, left = fits; left > 0; left--) {
		flki_state_at(st, i)->passed_by++;
		i = flki_state_at(st, i)->prev;
	}
	return fits;
}

uint32_t
flki_state_find_place(struct state *st, struct slot *s)
{
	s->order = s->ticket * PLACE_GAP;
	return st->h->fair != FLK_FAIR_OFF ? pass_by_tag(st, s) : pass_by_consent(st, s);
}
