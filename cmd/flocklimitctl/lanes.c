/*
 * lanes.c - from events to turns.
 *
 * The history is a ring, and a taker that is killed may take an event with it.  So what is not
 * told is inferred, and never more than that: a ticket whose first event is its end began
 * before all that is remembered, or, if it is in the snapshot, when that says; a permit ended at
 * the latest when its seat was given to another; one that the snapshot does not have is over.
 */
#include "lanes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

/* ---- turns ---- */

/* The file is writable for other takers: no number in it is trusted as an index. */
static uint32_t
seat_of(uint32_t seat)
{
	return seat < LANES_SEATS ? seat : 0;
}

bool
lanes_ends(const struct flk_event *e)
{
	return e->kind == FLK_EV_RELEASED || e->kind == FLK_EV_FORGOT || e->kind == FLK_EV_LEFT ||
	       e->kind == FLK_EV_EVICTED || e->kind == FLK_EV_REAPED;
}

/* Between two of this kind it held; between two others it waited. */
static bool
is_of_holder(const struct flk_event *e)
{
	return e->kind == FLK_EV_GRANTED || e->kind == FLK_EV_RELEASED || e->kind == FLK_EV_UNITS ||
	       e->kind == FLK_EV_FORGOT || (e->kind == FLK_EV_REAPED && e->code != 0);
}

static enum outcome
outcome_of(const struct flk_event *e)
{
	if (e->kind == FLK_EV_REAPED)
		return REAPED;
	if (e->kind != FLK_EV_RELEASED || e->code == FLK_UNKNOWN)
		return UNTOLD;
	if ((e->code & FLK_TIMED_OUT) != 0)
		return LATE;
	if (WIFSIGNALED(e->code))
		return SIGNALED;
	return WEXITSTATUS(e->code) == 0 ? WELL : BADLY;
}

/* Before this event, of its own units, it held so many. */
static uint32_t
weight_before(const struct flk_event *e)
{
	return e->kind == FLK_EV_UNITS ? e->weight + (uint32_t)e->code : e->weight;
}

static void
begin_turn(const struct lanes *l, struct turn *t, const struct flk_event *e)
{
	*t = (struct turn){ .ticket = e->ticket, .weight = weight_before(e) };
	t->seat = seat_of(e->seat);
	t->command = e->command;
	t->outcome = RUNNING;
	/* Events are numbered from 1: is there anything that was forgotten? */
	t->early = e->kind != FLK_EV_QUEUED && e->kind != FLK_EV_GRANTED && l->event[0].number > 1;
	t->waited = !is_of_holder(e);
	t->held = !t->waited;
	t->queued_ns = t->granted_ns = t->early ? l->from_ns : e->when_ns;
}

static void
add_to_turn(struct turn *t, const struct flk_event *e)
{
	if (e->kind != FLK_EV_EVICTED) { /* that has the pid of who did it */
		t->pid = e->pid;
		t->uid = e->uid;
	}
	if (is_of_holder(e) && !t->held) {
		t->held = true;
		t->granted_ns = e->when_ns;
		t->seat = seat_of(e->seat);
	}
	if (lanes_ends(e)) {
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
		if (l->event[i].ticket != 0)
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

/* Who was there when the snapshot was taken: its times are exact, and its command is whole. */
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

/* ---- ends and rows ---- */

static void
end_turns(struct lanes *l, const struct flk_snapshot *s, uint64_t now_ns)
{
	bool unfinished = false;
	size_t i;

	for (i = 0; i < s->holders + s->waiters; i++) {
		struct turn *t = lanes_find(l, s->entry[i].ticket);
		if (t != NULL)
			t->row = 1;
	}
	for (i = 0; i < l->turns; i++) {
		struct turn *t = &l->turn[i];
		if (!t->over && t->ticket <= s->last_ticket && t->row == 0) {
			t->over = true;
			t->outcome = UNTOLD;
			t->end_ns = l->to_ns;
		}
		t->row = 0;
		unfinished |= !t->over;
	}
	if (unfinished && now_ns > l->to_ns)
		l->to_ns = now_ns;
	for (i = 0; i < l->turns; i++)
		if (!l->turn[i].over)
			l->turn[i].end_ns = l->to_ns;
}

uint64_t
lanes_wait_end(const struct turn *t)
{
	return t->held ? t->granted_ns : t->end_ns;
}

/* Tickets are drawn in order, so turns by ticket are waits by their beginnings, but for a hair. */
static int
pack_waits(struct lanes *l)
{
	uint64_t *free_at = calloc(l->turns + 1, sizeof(*free_at));
	size_t i;
	uint32_t row;

	if (free_at == NULL)
		return -ENOMEM;
	for (i = 0; i < l->turns; i++) {
		struct turn *t = &l->turn[i];
		if (!t->waited)
			continue;
		for (row = 0; row < l->rows && free_at[row] > t->queued_ns; row++)
			;
		if (row == l->rows)
			l->rows++;
		t->row = row;
		free_at[row] = lanes_wait_end(t) + 1;
	}
	free(free_at);
	return 0;
}

static uint32_t
count_seats(const struct lanes *l)
{
	uint32_t seats = 0;
	size_t i;

	for (i = 0; i < l->turns; i++)
		if (l->turn[i].held && l->turn[i].seat >= seats)
			seats = l->turn[i].seat + 1;
	return seats;
}

int
lanes_make(struct lanes *l, const struct flk_event *event, size_t events,
	   const struct flk_snapshot *s, uint64_t now_ns)
{
	int error = 0;
	size_t i;

	*l = (struct lanes){ .event = event, .events = events, .from_ns = now_ns };
	for (i = 0; i < events; i++) {
		l->from_ns = event[i].when_ns < l->from_ns ? event[i].when_ns : l->from_ns;
		l->to_ns = event[i].when_ns > l->to_ns ? event[i].when_ns : l->to_ns;
	}
	l->turn = calloc(events + s->holders + s->waiters + 1, sizeof(*l->turn));
	l->step = calloc(events + 1, sizeof(*l->step));
	if (l->turn == NULL || l->step == NULL || read_events(l) != 0) {
		error = -ENOMEM;
	} else {
		read_snapshot(l, s);
		l->seats = count_seats(l);
		error = lanes_sweep(l, s, now_ns);
	}
	if (error == 0) {
		end_turns(l, s, now_ns);
		error = pack_waits(l);
	}
	if (error != 0)
		lanes_free(l);
	return error;
}

void
lanes_free(struct lanes *l)
{
	free(l->turn);
	free(l->step);
	*l = (struct lanes){ .turns = 0 };
}
