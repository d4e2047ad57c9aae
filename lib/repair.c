/*
 * repair.c - the index made anew from the slots, and the invariants checked against them.
 *
 * flki_state_rebuild() may itself be killed at any point: it changes no slot's state but FORGETTING,
 * whose completion is idempotent, so the next one starts from the same truth.
 *
 * Who does not keep to the lock may change a link between any two of our looks: each is read once,
 * and followed through flki_state_at(), and no loop is longer than there are slots.
 */
#include "state.h"

/* Merges two lists that are linked through next only, by rising ticket. */
static uint32_t
merge(struct state *st, uint32_t a, uint32_t b)
{
	uint32_t head = NIL, *end = &head, left = st->n;

	for (; a != NIL && b != NIL && left > 0; left--) {
		uint64_t ticket = flki_state_at(st, a)->ticket;
		uint32_t *first = ticket < flki_state_at(st, b)->ticket ? &a : &b;
		*end = *first;
		end = &flki_state_at(st, *first)->next;
		*first = *end;
	}
	*end = a != NIL ? a : b;
	return head;
}

/* Links the slots of one state by rising ticket; returns the first. */
static uint32_t
collect(struct state *st, uint32_t wanted)
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
			list = merge(st, run[level], list);
			run[level] = NIL;
		}
		run[level] = list;
	}
	list = NIL;
	for (level = 0; level < 33; level++)
		list = merge(st, run[level], list);
	return list;
}

static void
complete_forgetting(struct state *st)
{
	uint32_t i;

	for (i = 0; i < st->n; i++) {
		struct slot *s = &st->slots[i];
		if (atomic_load(&s->state) != FORGETTING)
			continue;
		st->h->withheld = s->forget_to;
		atomic_store(&s->state, FREE);
	}
}

static bool
sane(const struct slot *s)
{
	return s->weight >= 1 && s->weight <= FLK_MAX_UNITS && s->limit >= 1 &&
	       s->limit <= FLK_MAX_UNITS;
}

static bool
seat_is_taken(struct state *st, uint32_t seat)
{
	return (flki_state_at(st, seat / 64)->seat_map >> seat % 64 & 1) != 0;
}

static bool
build_holders(struct state *st)
{
	uint32_t i, next, left = st->n;
	uint64_t last = 0;

	for (i = collect(st, HELD); i != NIL && left > 0; i = next, left--) {
		const struct slot *s = flki_state_at(st, i);
		uint32_t seat = s->seat;
		next = s->next;
		if (!sane(s) || seat >= st->n || seat_is_taken(st, seat) || s->ticket <= last)
			return false;
		last = s->ticket;
		flki_state_append(st, &st->h->holders, i);
		flki_state_count_in(st, s);
	}
	if (last > st->h->last_ticket)
		st->h->last_ticket = last;
	return true;
}

static bool
build_line(struct state *st)
{
	uint32_t i, next, left = st->n;
	uint64_t last = 0;

	for (i = collect(st, WAITING); i != NIL && left > 0; i = next, left--) {
		const struct slot *s = flki_state_at(st, i);
		next = s->next;
		if (s->ticket <= last || (s->kind != BARRIER && !sane(s)))
			return false;
		last = s->ticket;
		st->h->barriers += s->kind == BARRIER;
		flki_state_append(st, &st->h->waiting, i);
	}
	if (last > st->h->last_ticket)
		st->h->last_ticket = last;
	return true;
}

bool
flki_state_rebuild(struct state *st)
{
	struct header *h = st->h;
	uint32_t i;
	bool right;

	complete_forgetting(st);
	h->waiting = h->holders = (struct list){ NIL, NIL, 0 };
	h->used = 0;
	h->barriers = 0;
	h->min_limit = h->min_count = h->seat_hint = 0;
	for (i = 0; i < st->n; i++)
		st->slots[i].seat_map = 0;
	right = build_holders(st) && build_line(st);

	for (i = 0; i < st->n; i++)
		if (atomic_load(&st->slots[i].state) > IDLE)
			flki_state_poke(st, i);
	h->repaired++;
	if (!right || st->bad)
		return false;
	flki_state_sweep_holders(st);
	if (h->closed)
		flki_state_evict_all(st, -FLK_CLOSED);
	flki_state_grant(st);
	return true;
}

/* ---- checking ---- */

static const char *
check_list(struct state *st, const struct list *list, uint32_t wanted)
{
	uint32_t i, next, prev = NIL, count = 0;
	uint64_t last = 0;

	for (i = list->head; i != NIL; i = next) {
		const struct slot *s = flki_state_at(st, i);
		next = s->next;
		if (st->bad)
			return "a link leads outside the file";
		if (++count > st->n)
			return "a list runs in a circle";
		if (atomic_load(&s->state) != wanted)
			return "a list has a slot of another state";
		if (s->prev != prev)
			return "a list differs forwards and backwards";
		if (s->ticket <= last)
			return "a list is not in the order of the tickets";
		if (s->ticket > st->h->last_ticket)
			return "a ticket was never drawn";
		last = s->ticket;
		prev = i;
	}
	if (list->tail != prev || list->count != count)
		return "a list's end or length is wrong";
	return NULL;
}

static bool
seats_collide(struct state *st)
{
	uint32_t i, j, left = 256, further;

	for (i = st->h->holders.head; i != NIL && left > 0; left--) {
		const struct slot *s = flki_state_at(st, i);
		j = i = s->next;
		for (further = left - 1; j != NIL && further > 0; further--) {
			const struct slot *other = flki_state_at(st, j);
			if (other->seat == s->seat)
				return true;
			j = other->next;
		}
	}
	return false;
}

static const char *
check_sums(struct state *st)
{
	const struct header *h = st->h;
	uint32_t i, held = 0, waiting = 0, barriers = 0, min = 0, count = 0;
	uint64_t used = 0, seats = 0;

	for (i = 0; i < st->n; i++) {
		const struct slot *s = &st->slots[i];
		uint32_t state = atomic_load(&s->state);
		seats += (uint64_t)__builtin_popcountll(s->seat_map);
		waiting += state == WAITING;
		barriers += state == WAITING && s->kind == BARRIER;
		if (state == FORGETTING)
			return "a permit is neither held nor forgotten";
		if (state != HELD)
			continue;
		held++;
		used += s->weight;
		if (count == 0 || s->limit < min) {
			min = s->limit;
			count = 0;
		}
		count += s->limit == min;
		if (!seat_is_taken(st, s->seat))
			return "a holder has no seat";
	}
	if (held <= 256 && seats_collide(st))
		return "two holders have one seat";
	if (held != h->holders.count || waiting != h->waiting.count || barriers != h->barriers)
		return "a slot is in no list";
	if (used != h->used)
		return "the units in use are not the sum of the weights held";
	if (seats != held)
		return "a seat is taken by nobody";
	if (count != h->min_count || (count > 0 && min != h->min_limit))
		return "the smallest limit is not the smallest";
	return NULL;
}

/* A copy of the grant rule, from its words in the manual, not from fits(). */
static const char *
check_head(struct state *st)
{
	const struct header *h = st->h;
	uint32_t i = h->waiting.head, left = st->n;
	const struct slot *head = NULL;
	uint64_t limit;

	for (; i != NIL && left > 0; i = head->next, left--)
		if ((head = flki_state_at(st, i))->kind != BARRIER)
			break;
	if (i == NIL || head == NULL || h->paused)
		return NULL;
	limit = h->override >= 0 ? (uint64_t)h->override : head->limit;
	if (h->override < 0 && h->min_count > 0 && h->min_limit < limit)
		limit = h->min_limit;
	limit = limit > h->withheld ? limit - h->withheld : 0;
	if (limit > 0 && (h->holders.count == 0 || h->used + head->weight <= limit))
		return "the head of the line waits although it fits";
	return NULL;
}

const char *
flki_state_check(struct state *st)
{
	const char *why;

	if ((why = check_list(st, &st->h->holders, HELD)) != NULL ||
	    (why = check_list(st, &st->h->waiting, WAITING)) != NULL ||
	    (why = check_sums(st)) != NULL)
		return why;
	return check_head(st);
}
