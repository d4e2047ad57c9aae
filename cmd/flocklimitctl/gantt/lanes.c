/* SPDX-License-Identifier: ISC */
/*
 * lanes.c - from events to turns.
 *
 * The history is a ring, so old events are overwritten, and a taker that is killed may leave an
 * event unwritten.  We infer no more than what must be so: a ticket whose first event is its end
 * began before the oldest event, or when the snapshot says, if that has it; a permit ended at the
 * latest when another taker got its seat; a ticket that is not in the snapshot is over.
 */
#include "lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "event.h"
#include "seats.h"

/* Other takers can write the file: we do not trust any number in it as an index. */
static uint32_t
seat_of(uint32_t seat)
{
	return seat < LANES_SEATS ? seat : 0;
}

static enum outcome
outcome_of(const struct flk_event *e)
{
	if (e->kind == FLK_EV_REAPED)
		return REAPED;
	if (e->kind != FLK_EV_RELEASED || e->code == FLK_UNKNOWN || e->code == FLK_READY)
		return UNTOLD;
	if ((e->code & FLK_TIMED_OUT) != 0)
		return LATE;
	if (WIFSIGNALED(e->code))
		return SIGNALED;
	return WEXITSTATUS(e->code) == 0 ? WELL : BADLY;
}

static void
begin_turn(const struct lanes *l, struct turn *t, const struct flk_event *e)
{
	*t = (struct turn){ .ticket = e->ticket, .weight = event_weight_before(e) };
	t->seat = seat_of(e->seat);
	t->command = e->command;
	t->outcome = RUNNING;
	/*
	 * Events are numbered from 1: if the oldest has a larger number, older ones were
	 * overwritten.
	 */
	t->early = e->kind != FLK_EV_QUEUED && e->kind != FLK_EV_GRANTED && l->event[0].number > 1;
	t->waited = !(e->kind == FLK_EV_GRANTED || event_is_of_holder(e));
	t->held = !t->waited;
	t->queued_ns = t->granted_ns = t->early ? l->from_ns : e->when_ns;
}

static void
add_to_turn(struct turn *t, const struct flk_event *e)
{
	if (e->kind != FLK_EV_EVICTED) { /* which has the pid of the process that cancelled it */
		t->pid = e->pid;
		t->uid = e->uid;
	}
	if ((e->kind == FLK_EV_GRANTED || event_is_of_holder(e)) && !t->held) {
		t->held = true;
		t->granted_ns = e->when_ns;
		t->seat = seat_of(e->seat);
	}
	if (e->kind == FLK_EV_GRANTED)
		t->seats = e->seats;
	if (e->kind == FLK_EV_QUEUED)
		t->first = e;
	t->shrank |= e->kind == FLK_EV_UNITS;
	if (event_is_end(e)) {
		t->over = true;
		t->end_ns = e->when_ns;
		t->outcome = outcome_of(e);
		t->last = e;
	}
}

static int
by_ticket_and_number(const void *va, const void *vb)
{
	const struct flk_event *a = *(const struct flk_event *const *)va;
	const struct flk_event *b = *(const struct flk_event *const *)vb;

	if (a->ticket != b->ticket)
		return a->ticket < b->ticket ? -1 : 1;
	return (a->number > b->number) - (a->number < b->number);
}

static int
by_ticket(const void *va, const void *vb)
{
	const struct turn *a = va, *b = vb;

	return (a->ticket > b->ticket) - (a->ticket < b->ticket);
}

static struct turn *
find_among(const struct lanes *l, uint64_t ticket, size_t among)
{
	struct turn key = { .ticket = ticket };

	return bsearch(&key, l->turn, among, sizeof(key), by_ticket);
}

struct turn *
lanes_find(const struct lanes *l, uint64_t ticket)
{
	return find_among(l, ticket, l->turns);
}

static int
read_events(struct lanes *l)
{
	const struct flk_event **sorted = calloc(l->events, sizeof(const struct flk_event *));
	size_t i, n = 0;

	if (sorted == NULL)
		return -ENOMEM;
	for (i = 0; i < l->events; i++)
		if (event_has_taker(&l->event[i]))
			sorted[n++] = &l->event[i];
	qsort(sorted, n, sizeof(const struct flk_event *), by_ticket_and_number);
	for (i = 0; i < n; i++) {
		if (i == 0 || sorted[i]->ticket != sorted[i - 1]->ticket)
			begin_turn(l, &l->turn[l->turns++], sorted[i]);
		add_to_turn(&l->turn[l->turns - 1], sorted[i]);
	}
	free(sorted);
	return 0;
}

/*
 * For takers in the snapshot, we use its times, which are exact, and its command, which is whole.
 */
static void
read_snapshot(struct lanes *l, const struct flk_snapshot *s)
{
	size_t i, known = l->turns;

	for (i = 0; i < s->holders + s->waiters; i++) {
		const struct flk_entry *e = &s->entry[i];
		struct turn *t = find_among(l, e->ticket, known);
		if (t == NULL) {
			t = &l->turn[l->turns++];
			*t = (struct turn){ .ticket = e->ticket, .weight = e->weight };
			t->seat = seat_of(e->seat);
			t->seats = e->seats;
			t->pid = e->pid;
			t->uid = e->uid;
			t->outcome = RUNNING;
			t->early = true;
		}
		if (e->holds && t->early) {
			t->held = true;
			t->granted_ns = e->since_ns;
			t->early = false;
		} else if (!e->holds && (t->early || !t->waited)) {
			t->waited = true;
			t->queued_ns = e->since_ns;
			t->early = false;
		}
		t->command = e->command;
	}
	qsort(l->turn, l->turns, sizeof(*l->turn), by_ticket);
}

int
lanes_read(struct lanes *l, const struct flk_snapshot *s)
{
	l->turn = calloc(l->events + s->holders + s->waiters + 1, sizeof(*l->turn));
	if (l->turn == NULL || read_events(l) != 0)
		return -ENOMEM;
	read_snapshot(l, s);
	return 0;
}

uint32_t
lanes_seat_from(const struct turn *t, uint32_t from)
{
	uint64_t rest;

	if (t->seats == 0)
		return t->seat >= from ? t->seat : LANES_SEATS;
	rest = from < FLK_SEATS ? t->seats >> from << from : 0;
	return rest != 0 ? seats_first(rest) : LANES_SEATS;
}

/* Of a permit that shrank. */
static bool
keeps_seat(const struct turn *t, uint32_t seat, uint32_t weight)
{
	return t->seats == 0 || (seats_kept(t->seats, t->seat, weight) >> seat & 1) != 0;
}

uint64_t
lanes_seat_end(const struct lanes *l, const struct turn *t, uint32_t seat)
{
	size_t i;

	for (i = 0; i < l->events && t->shrank && t->seats != 0; i++) {
		const struct flk_event *e = &l->event[i];
		if (e->kind == FLK_EV_UNITS && e->ticket == t->ticket &&
		    !keeps_seat(t, seat, e->weight))
			return e->when_ns;
	}
	return t->end_ns;
}

uint64_t
lanes_wait_end(const struct turn *t)
{
	return t->held ? t->granted_ns : t->end_ns;
}
