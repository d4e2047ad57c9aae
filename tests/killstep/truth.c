/* SPDX-License-Identifier: ISC */
/*
 * truth.c - what must hold of those on the stage, and of the file, whenever everybody has
 * come to rest.
 *
 * It is told from the slots' states alone, by the words of the manual, and from what the takers
 * themselves were told: the index, which a dead taker may have left half done, plays no part.
 */
#include "killstep.h"

#include "../helpers/common.h"

struct truth {
	uint64_t used, withheld, first_barrier, oldest_held, head, head_tag, head_order;
	uint64_t seats, head_not_seats;
	bool bad_seat;
	uint32_t min_limit, holders, head_weight, head_limit, head_passed_by;
};

uint32_t
stage_slots(const struct stage *s)
{
	uint32_t n = atomic_load(&s->eye->file.h->nslots);

	return n <= MAX_SLOTS && n >= FIRST_SLOTS ? n : FIRST_SLOTS;
}

/* It grows, and has not got its seats yet: then it has as many units as seats. */
static uint32_t
units_of(const struct slot *slot)
{
	uint32_t seats = (uint32_t)__builtin_popcountll(slot->seats);

	return slot->weight < seats ? slot->weight : seats;
}

/* Its own, and the lowest others of its set, one for each unit: no limit here is above 64. */
static uint64_t
seats_of(const struct slot *slot)
{
	uint64_t own = UINT64_C(1) << slot->seat % 64, seat, set = own;
	uint32_t left = units_of(slot);

	if ((slot->seats & own) == 0)
		return 0;
	for (seat = 1; seat != 0 && left > 1; seat <<= 1)
		if ((slot->seats & seat & ~own) != 0) {
			set |= seat;
			left--;
		}
	return set;
}

static void
note_held(struct truth *t, const struct slot *slot)
{
	uint64_t seats = seats_of(slot);

	t->bad_seat |= (t->seats & seats) != 0 || seats == 0 || (seats & slot->not_seats) != 0;
	t->seats |= seats;
	t->used += units_of(slot);
	if (t->holders++ == 0 || slot->limit < t->min_limit)
		t->min_limit = slot->limit;
	if (slot->ticket < t->oldest_held)
		t->oldest_held = slot->ticket;
}

/* The living alone count: nobody here leaves a command behind. */
static struct truth
truth_of(const struct stage *s)
{
	const struct header *h = s->eye->file.h;
	struct truth t = { .withheld = h->withheld,
			   .first_barrier = UINT64_MAX,
			   .oldest_held = UINT64_MAX,
			   .head = UINT64_MAX,
			   .head_tag = UINT64_MAX,
			   .head_order = UINT64_MAX };
	uint32_t i, n = stage_slots(s);

	for (i = 0; i < n; i++) {
		const struct slot *slot = &s->eye->file.slots[i];
		uint32_t state = atomic_load(&slot->state);
		if (!flki_alive_is(&slot->alive))
			continue;
		if (state == HELD)
			note_held(&t, slot);
		if (state != WAITING)
			continue;
		if (slot->kind == BARRIER) {
			if (slot->ticket < t.first_barrier)
				t.first_barrier = slot->ticket;
		} else if (slot->tag < t.head_tag ||
			   (slot->tag == t.head_tag && slot->order < t.head_order)) {
			t.head_tag = slot->tag;
			t.head_order = slot->order;
			t.head_passed_by = slot->passed_by;
			t.head = slot->ticket;
			t.head_weight = slot->least; /* its granter may have chosen already */
			t.head_limit = slot->limit;
			t.head_not_seats = slot->not_seats;
		}
	}
	return t;
}

/* So many hold that came after the head: it consented to that, and has counted them. */
static uint32_t
held_after(const struct stage *s, uint64_t head)
{
	uint32_t i, count = 0, n = stage_slots(s);

	for (i = 0; i < n; i++) {
		const struct slot *slot = &s->eye->file.slots[i];
		count += atomic_load(&slot->state) == HELD && slot->ticket > head;
	}
	return count;
}

/* For the head; and takes the seats that are free but out of use off the limit. */
static bool
seats_suffice(const struct truth *t, const struct header *h, uint64_t *limit)
{
	uint64_t below = t->head_weight > *limit ? t->head_limit : *limit, seat, free = 0, lost = 0;

	for (seat = 0; seat < below && seat < 64; seat++) {
		if ((t->seats >> seat & 1) != 0)
			continue;
		if ((h->seats_off >> seat & 1) != 0)
			lost += seat < *limit;
		else
			free += (t->head_not_seats >> seat & 1) == 0;
	}
	*limit -= lost;
	return free >= t->head_weight;
}

static void
check_truth(struct stage *s)
{
	const struct header *h = s->eye->file.h;
	struct truth t = truth_of(s);
	uint64_t limit;

	if (t.used > s->most)
		stage_fail(s, "%llu units are held, of %u", (unsigned long long)t.used, s->most);
	if (t.bad_seat)
		stage_fail(s, "two hold one seat, or one holds what it does not want, or none");
	if (t.first_barrier < t.oldest_held && t.first_barrier < t.head)
		stage_fail(s, "one waits until it is idle, and it is");
	if (t.head == UINT64_MAX)
		return;
	/* In a fair limiter its turn alone counts. */
	if (h->fair == FLK_FAIR_OFF && held_after(s, t.head) > t.head_passed_by)
		stage_fail(s, "ticket %llu waits, was passed by %u, and %u later ones hold",
			   (unsigned long long)t.head, t.head_passed_by, held_after(s, t.head));
	if (h->closed)
		stage_fail(s, "one waits in a closed limiter");
	limit = h->override >= 0 ? (uint64_t)h->override : t.head_limit;
	if (h->override < 0 && t.holders > 0 && t.min_limit < limit)
		limit = t.min_limit;
	if (!seats_suffice(&t, h, &limit))
		return;
	limit = limit > t.withheld ? limit - t.withheld : 0;
	/* With a gate it waits for a look, and must know that. */
	if (!h->paused && limit > 0 && !(flki_gate_is_set(h) && h->gate.waiter == t.head) &&
	    (t.holders == 0 || t.used + t.head_weight <= limit))
		stage_fail(s, "ticket %llu waits although it fits", (unsigned long long)t.head);
}

/* An operator may have taken some of the units back that this one was told of. */
static uint64_t
still_held(const struct stage *s, int who)
{
	const struct slot *slot = &s->eye->file.slots[who];
	uint64_t told = s->cast[who].desk->held;

	if (atomic_load(&slot->state) == HELD && slot->ticket == s->cast[who].desk->ticket &&
	    slot->weight < told)
		return slot->weight;
	return told;
}

/* What they were told, and where they are, is what the file says. */
static void
check_cast(struct stage *s)
{
	uint64_t told = 0;
	uint32_t i, n = stage_slots(s);
	int who;

	for (who = 0; who < CAST; who++)
		if (s->cast[who].where == AT_DESK)
			told += still_held(s, who);
	if (told > s->most)
		stage_fail(s, "they were told that they hold %llu units, of %u",
			   (unsigned long long)told, s->most);
	for (i = 0; i < n; i++) {
		const struct slot *slot = &s->eye->file.slots[i];
		uint32_t state = atomic_load(&slot->state);
		if (!flki_alive_is(&slot->alive))
			continue;
		for (who = 0; who < CAST; who++)
			if (s->cast[who].where != NOT_THERE &&
			    (uint32_t)s->cast[who].pid == slot->pid)
				break;
		if (who == CAST)
			continue;
		if (s->cast[who].where == ASLEEP && state != WAITING &&
		    !actor_follows(&s->cast[who]))
			stage_fail(s, "%s sleeps on, its fate decided (state %u)", stage_roles[who],
				   state);
		if (s->cast[who].where == AT_DESK && state == HELD && s->cast[who].desk->held == 0)
			stage_fail(s, "%s holds and does not know it", stage_roles[who]);
	}
}

/* While somebody dead is inside, it is for whoever comes next to tell them. */
static void
check_followers(struct stage *s)
{
	const struct header *h = s->eye->file.h;
	int who;

	for (who = 0; who < CAST; who++)
		if (actor_follows(&s->cast[who]) && atomic_load(&h->lock) == 0 &&
		    atomic_load(&h->events) > s->heard)
			stage_fail(s, "%s follows, and was not told", stage_roles[who]);
}

void
stage_check(struct stage *s)
{
	if (s->failed)
		return;
	check_truth(s);
	check_cast(s);
	check_followers(s);
}

uint64_t
stage_withheld(const struct stage *s)
{
	return truth_of(s).withheld;
}
