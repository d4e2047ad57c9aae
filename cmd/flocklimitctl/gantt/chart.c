/* SPDX-License-Identifier: ISC */
/*
 * chart.c - a history and a snapshot become lanes: turns are read, the sweep through time fills in
 * what no event says, and then each turn gets its end, and each wait its row.
 */
#include "chart.h"

#include <errno.h>
#include <stdlib.h>

#include "sweep.h"

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

/*
 * Tickets are drawn on arrival, so turns sorted by ticket are nearly sorted by the wait's
 * beginning.
 */
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
highest_seat(const struct turn *t)
{
	return t->seats == 0 ? t->seat : 63 - (uint32_t)__builtin_clzll(t->seats);
}

static uint32_t
count_seats(const struct lanes *l)
{
	uint32_t seats = 0;
	size_t i;

	for (i = 0; i < l->turns; i++)
		if (l->turn[i].held && highest_seat(&l->turn[i]) >= seats)
			seats = highest_seat(&l->turn[i]) + 1;
	return seats;
}

int
chart_make(struct lanes *l, const struct flk_event *event, size_t events,
	   const struct flk_snapshot *s, uint64_t now_ns)
{
	size_t i;
	int error;

	*l = (struct lanes){ .event = event, .events = events, .from_ns = now_ns };
	for (i = 0; i < events; i++) {
		l->from_ns = event[i].when_ns < l->from_ns ? event[i].when_ns : l->from_ns;
		l->to_ns = event[i].when_ns > l->to_ns ? event[i].when_ns : l->to_ns;
	}
	error = lanes_read(l, s);
	if (error == 0) {
		l->seats = count_seats(l);
		error = lanes_sweep(l, s, now_ns);
	}
	if (error == 0) {
		end_turns(l, s, now_ns);
		error = pack_waits(l);
	}
	if (error != 0)
		chart_free(l);
	return error;
}

void
chart_free(struct lanes *l)
{
	free(l->turn);
	free(l->step);
	*l = (struct lanes){ .turns = 0 };
}
