/* SPDX-License-Identifier: ISC */
/*
 * repair.c - the rebuild of the index from the slots, and the salvage of slots that contradict each
 * other.
 *
 * The repairer may itself be killed at any point of flki_state_rebuild().  Until the index is
 * rebuilt it changes no slot's state, so the next repairer starts from the same slots.
 *
 * A program that does not keep to the lock may change a link between any two of our looks.  So each
 * link is read once and followed through flki_state_at(), and no loop is longer than there are
 * slots.
 */
#include "state.h"

/* Merges two lists that are linked through next only, and are sorted. */
static uint32_t
merge(struct state *st, bool in_line, uint32_t a, uint32_t b)
{
	uint32_t head = NIL, *end = &head, left = st->n;

	for (; a != NIL && b != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, a);
		uint32_t *first = flki_state_precedes(s, flki_state_at(st, b), in_line) ? &a : &b;
		*end = *first;
		end = &flki_state_at(st, *first)->next;
		*first = *end;
	}
	*end = a != NIL ? a : b;
	return head;
}

/* Links the slots of one state, sorted as a list of them; returns the first. */
static uint32_t
collect(struct state *st, uint32_t wanted, bool in_line)
{
	uint32_t run[33], level, i, list;

	for (level = 0; level < 33; level++)
		run[level] = NIL;
	for (i = 0; i < st->n; i++) {
		if (atomic_load(&st->slots[i].state) != wanted)
			continue;
		st->slots[i].next = NIL;
		list = i;
		for (level = 0; run[level] != NIL; level++) {
			list = merge(st, in_line, run[level], list);
			run[level] = NIL;
		}
		run[level] = list;
	}
	list = NIL;
	for (level = 0; level < 33; level++)
		list = merge(st, in_line, run[level], list);
	return list;
}

static bool
sane(const struct slot *s)
{
	return s->weight >= 1 && s->weight <= FLK_MAX_UNITS && s->limit >= 1 &&
	       s->limit <= FLK_MAX_UNITS;
}

static bool
place_is_sane(const struct slot *s)
{
	return s->order >= 1 && s->ticket <= LAST_TICKET && s->order <= s->ticket * PLACE_GAP;
}

/* Who made it grow was killed before the commit: see seats.c. */
static void
take_growth_back(struct slot *s)
{
	uint32_t seats = flki_seats_count(s->seats);

	if (s->seats != 0 && s->weight > seats)
		s->weight = seats;
}

static bool
build_holders(struct state *st)
{
	uint32_t i, next, left = st->n;
	uint64_t last = 0;

	for (i = collect(st, HELD, false); i != NIL && left > 0; i = next, left--) {
		struct slot *s = flki_state_at(st, i);
		next = s->next;
		if (!sane(s))
			return false;
		take_growth_back(s);
		if (!flki_seats_are_sane(s, st->n) || flki_state_seats_are_taken(st, s) ||
		    s->ticket <= last)
			return false;
		last = s->ticket;
		if (s->fence > st->h->last_fence)
			st->h->last_fence = s->fence;
		flki_fair_came(st, s);
		flki_state_insert(st, &st->h->holders, i);
		flki_state_count_in(st, s);
	}
	if (last > st->h->last_ticket)
		st->h->last_ticket = last;
	return true;
}

/* No two waiters have one ticket.  Where one has passed another, the line does not show it. */
static bool
tickets_differ(struct state *st)
{
	uint32_t i, left = st->n;
	uint64_t last = 0;

	for (i = collect(st, WAITING, false); i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		if (s->ticket <= last)
			return false;
		last = s->ticket;
		i = s->next;
	}
	if (last > st->h->last_ticket)
		st->h->last_ticket = last;
	return true;
}

static bool
build_line(struct state *st)
{
	const struct slot *before = NULL;
	uint32_t i, next, left = st->n;

	if (!tickets_differ(st))
		return false;
	for (i = collect(st, WAITING, true); i != NIL && left > 0; i = next, left--) {
		struct slot *s = flki_state_at(st, i);
		next = s->next;
		s->weight = s->least;
		if ((before != NULL && !flki_state_precedes(before, s, true)) ||
		    !place_is_sane(s) || (s->kind != BARRIER && !sane(s)))
			return false;
		before = s;
		st->h->barriers += s->kind == BARRIER;
		flki_state_insert(st, &st->h->waiting, i);
	}
	return true;
}

bool
flki_state_rebuild(struct state *st)
{
	struct header *h = st->h;
	uint32_t i;
	bool right;

	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
	h->used = 0;
	h->barriers = 0;
	h->min_limit = h->min_count = h->seat_hint = 0;
	for (i = 0; i < st->n; i++)
		st->slots[i].seat_bits = 0;
	right = build_holders(st) && build_line(st);
	flki_pace_repair(st);

	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) > IDLE)
			flki_state_wake(st, i);
	/*
	 * Behind the wakes: a head that knows of the gate looks at it by itself, and so finds a
	 * repairer that died before it had woken anybody.
	 */
	h->gate.waiter = 0;
	h->repaired++;
	flki_state_note_steering(st, FLK_EV_REPAIRED, 0);
	if (!right || st->bad)
		return false;
	flki_state_sweep_holders(st);
	if (h->closed)
		flki_state_evict_all(st, -FLK_CLOSED);
	flki_state_grant(st);
	return true;
}

/* ---- salvage: slots that contradict each other ---- */

static bool
ticket_is_taken(const struct state *st, const struct slot *mine)
{
	const struct slot *s;

	for (s = st->slots; s < st->slots + st->n; s++) {
		uint32_t state = atomic_load(&s->state);
		if (s != mine && (state == HELD || state == WAITING) && s->ticket == mine->ticket)
			return true;
	}
	return false;
}

static bool
order_is_taken(const struct state *st, const struct slot *mine)
{
	const struct slot *s;

	for (s = st->slots; s < st->slots + st->n; s++)
		if (s != mine && atomic_load(&s->state) == WAITING && s->tag == mine->tag &&
		    s->order == mine->order)
			return true;
	return false;
}

static bool
seat_is_held(const struct state *st, const struct slot *mine, uint32_t seat)
{
	const struct slot *s;

	for (s = st->slots; s < st->slots + st->n; s++)
		if (s != mine && atomic_load(&s->state) == HELD && flki_seats_have(s, seat))
			return true;
	return false;
}

static bool
seats_are_held(const struct state *st, const struct slot *mine)
{
	uint64_t set;

	for (set = flki_seats_of(mine); set != 0; set &= set - 1)
		if (seat_is_held(st, mine, (uint32_t)__builtin_ctzll(set)))
			return true;
	return seat_is_held(st, mine, mine->seat);
}

static uint32_t
within(uint32_t value, uint32_t least, uint32_t most)
{
	return value < least ? least : value > most ? most : value;
}

/* Its command runs, so it keeps its permit; a number that can't be true becomes one that can. */
static void
salvage_holder(struct state *st, struct slot *s)
{
	uint32_t seat = 0;

	take_growth_back(s);
	s->weight = within(s->weight, 1, FLK_MAX_UNITS);
	s->limit = within(s->limit, 1, FLK_MAX_UNITS);
	while (s->ticket == 0 || ticket_is_taken(st, s))
		s->ticket = ++st->h->last_ticket;
	/* Its command was told all of them. */
	if (s->seats != 0 && (s->seat >= SEATS || (s->seats >> s->seat & 1) == 0))
		s->seat = (uint32_t)__builtin_ctzll(s->seats);
	if (flki_seats_are_sane(s, st->n) && !seats_are_held(st, s))
		return;
	while (seat < st->n + SEATS - 1 && seat_is_held(st, s, seat))
		seat++;
	s->seats = 0;
	s->seat = seat;
}

void
flki_state_salvage(struct state *st)
{
	struct slot *s;

	for (s = st->slots; s < st->slots + st->n; s++)
		if (s->ticket > st->h->last_ticket && s->ticket < LAST_TICKET / 2 &&
		    atomic_load(&s->state) == HELD)
			st->h->last_ticket = s->ticket;
	for (s = st->slots; s < st->slots + st->n; s++) {
		switch (atomic_load(&s->state)) {
		case FREE:
		case IDLE:
		case OUT:
			break;
		case HELD:
			salvage_holder(st, s);
			break;
		case WAITING:
			flki_state_mend_asked(s);
			if (s->ticket != 0 && !ticket_is_taken(st, s) && place_is_sane(s) &&
			    !order_is_taken(st, s) && (s->kind == BARRIER || sane(s)))
				break;
			s->reason = -FLK_EVICTED;
			atomic_store(&s->state, OUT);
			flki_state_wake(st, (uint32_t)(s - st->slots));
			break;
		default:
			atomic_store(&s->state, FREE);
			break;
		}
	}
}
