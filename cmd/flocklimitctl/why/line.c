/* SPDX-License-Identifier: ISC */
/*
 * line.c - the takers of a history.
 *
 * The history is a ring.  A ticket whose first event is its end, or a permit of which the history
 * has no wait, began before the oldest event; we infer no more than that.
 */
#include "line.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "kind.h"
#include "seats.h"

static int
by_ticket(const void *a, const void *b)
{
	const struct person *x = a, *y = b;

	return (x->ticket > y->ticket) - (x->ticket < y->ticket);
}

struct person *
line_find(const struct line *l, uint64_t ticket)
{
	struct person key = { .ticket = ticket };

	return l->n > 0 ? bsearch(&key, l->person, l->n, sizeof(key), by_ticket) : NULL;
}

/* One for each ticket of the events and of the snapshot; all are away yet. */
static void
collect(struct line *l, const struct flk_event *event, size_t events, const struct flk_snapshot *s)
{
	size_t i, n = 0;

	for (i = 0; i < events; i++)
		if (event_has_taker(&event[i]))
			l->person[n++].ticket = event[i].ticket;
	for (i = 0; i < s->holders + s->waiters; i++)
		l->person[n++].ticket = s->entry[i].ticket;
	if (n == 0)
		return;
	qsort(l->person, n, sizeof(*l->person), by_ticket);
	for (i = 0; i < n; i++)
		if (l->n == 0 || l->person[l->n - 1].ticket != l->person[i].ticket)
			l->person[l->n++] = l->person[i];
}

static void
be(struct person *p, const struct flk_event *e)
{
	p->weight = e->weight;
	if (e->kind != FLK_EV_GREW)
		p->seat = e->seat;
	if (e->kind == FLK_EV_GRANTED || e->kind == FLK_EV_GREW)
		p->seats = e->seats;
	/* A permit that grows may get seats below its own: then only its grant tells which that is. */
	if (p->seats != 0 && (p->seats >> p->seat % FLK_SEATS & 1) == 0)
		p->seat = seats_first(p->seats);
	if (e->kind == FLK_EV_QUEUED && e->limit <= FLK_SEATS) /* else it has none */
		p->not_seats = e->seats;
	p->limit = e->limit != 0 ? e->limit : p->limit;
	memcpy(p->command, e->command, sizeof(p->command));
}

/*
 * The first event of a ticket says how it was before.  If that is its permit, and SURE is true, it
 * did not wait; else the history may have lost the beginning of its wait.
 */
static void
begin_person(struct person *p, const struct flk_event *e, bool sure)
{
	be(p, e);
	p->weight = event_weight_before(e);
	p->holds = event_is_of_holder(e);
	p->waits = !p->holds && e->kind != FLK_EV_QUEUED && !(e->kind == FLK_EV_GRANTED && sure);
}

static void
read_snapshot(struct line *l, const struct flk_snapshot *s, uint64_t oldest_ns)
{
	struct person *p;
	size_t i;

	for (i = 0; i < s->holders + s->waiters; i++) {
		const struct flk_entry *e = &s->entry[i];
		if ((p = line_find(l, e->ticket)) == NULL)
			continue;
		p->present = true;
		p->seats = e->seats;
		p->not_seats = e->not_seats;
		if (p->weight != 0 || e->since_ns > oldest_ns)
			continue; /* the events know more */
		p->weight = e->weight;
		p->limit = e->limit;
		p->seat = e->seat;
		p->holds = e->holds;
		p->waits = !e->holds;
		memcpy(p->command, e->command, sizeof(p->command) - 1);
	}
}

int
line_begin(struct line *l, const struct flk_event *event, size_t events,
	   const struct flk_snapshot *s)
{
	/* A store remembers all of a ticket's events, or none. */
	bool sure = events > 0 && (event[0].number <= 1 || !here.is_file);
	uint64_t drawn = UINT64_MAX; /* the smallest ticket that was queued in these events */
	struct person *p;
	size_t i;

	*l = (struct line){ .n = 0 };
	l->person = calloc(events + s->holders + s->waiters + 1, sizeof(*l->person));
	if (l->person == NULL)
		return -ENOMEM;
	collect(l, event, events, s);
	for (i = 0; i < events; i++) {
		const struct flk_event *e = &event[i];
		p = event_has_taker(e) ? line_find(l, e->ticket) : NULL;
		if (p == NULL)
			continue;
		if (p->weight == 0)
			begin_person(p, e,
				     sure || e->ticket > drawn); /* tickets are drawn in order */
		if (e->kind == FLK_EV_QUEUED && e->ticket < drawn)
			drawn = e->ticket;
		p->told |= e->kind != FLK_EV_QUEUED;
	}
	read_snapshot(l, s, events > 0 ? event[0].when_ns : UINT64_MAX);
	/* A history that has lost its beginning does not say which taker passed which before. */
	for (p = l->person; p < l->person + l->n; p++)
		p->order = ++l->order;
	for (p = l->person; p < l->person + l->n; p++)
		p->lost = !p->told && !p->present && p->ticket <= s->last_ticket;
	return 0;
}

/* A permit ended at the latest when another taker got its seat. */
static void
free_seat(struct line *l, uint32_t seat, const struct person *but)
{
	struct person *p;

	for (p = l->person; p < l->person + l->n; p++)
		if (p != but && p->holds && p->seat == seat)
			p->holds = false;
}

/* The last waiter before that place; NULL: there is none. */
static struct person *
last_before(const struct line *l, uint64_t order)
{
	struct person *last = NULL, *p;

	for (p = l->person; p < l->person + l->n; p++)
		if (p->waits && p->order < order && (last == NULL || p->order > last->order))
			last = p;
	return last;
}

/* A newcomer stands at the end, and then passes so many waiters, which consented to it. */
static void
join(struct line *l, struct person *newcomer, int passed)
{
	struct person *other;
	uint64_t order;

	newcomer->order = ++l->order;
	for (; passed > 0 && (other = last_before(l, newcomer->order)) != NULL; passed--) {
		order = other->order;
		other->order = newcomer->order;
		newcomer->order = order;
	}
	newcomer->waits = !newcomer->lost;
}

void
line_happen(struct line *l, const struct flk_event *e)
{
	struct person *p = event_has_taker(e) ? line_find(l, e->ticket) : NULL;

	if (p == NULL)
		return;
	be(p, e);
	if (event_is_end(e)) {
		p->holds = p->waits = false;
	} else if (e->kind == FLK_EV_QUEUED) {
		join(l, p, e->code);
	} else if (e->kind == FLK_EV_GRANTED) {
		free_seat(l, e->seat, p);
		p->waits = false;
		p->holds = true;
	}
}

void
line_free(struct line *l)
{
	free(l->person);
	*l = (struct line){ .n = 0 };
}

struct person *
line_head(const struct line *l)
{
	struct person *head = NULL, *p;

	for (p = l->person; p < l->person + l->n; p++)
		if (p->waits && (head == NULL || p->order < head->order))
			head = p;
	return head;
}

size_t
line_holders(const struct line *l)
{
	size_t i, n = 0;

	for (i = 0; i < l->n; i++)
		n += l->person[i].holds;
	return n;
}

uint64_t
line_used_by(const struct line *l, uint64_t last)
{
	const struct person *p;
	uint64_t used = 0;

	for (p = l->person; p < l->person + l->n && p->ticket <= last; p++)
		used += p->holds ? p->weight : 0;
	return used;
}

uint64_t
line_seats(const struct line *l)
{
	uint64_t taken = 0;
	const struct person *p;

	for (p = l->person; p < l->person + l->n; p++) {
		if (!p->holds)
			continue;
		if (p->seats == 0 && p->seat < FLK_SEATS)
			taken |= UINT64_C(1) << p->seat;
		taken |= seats_kept(p->seats, p->seat, p->weight);
	}
	return taken;
}

struct person *
line_strictest(const struct line *l)
{
	struct person *least = NULL, *p;

	for (p = l->person; p < l->person + l->n; p++)
		if (p->holds && p->limit != 0 && (least == NULL || p->limit < least->limit))
			least = p;
	return least;
}
