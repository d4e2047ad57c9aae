/* SPDX-License-Identifier: ISC */
/*
 * sweep.c - goes through all events once, for what no single event says: how many units were in
 * use, under which limit, and how many takers waited.
 */
#include "sweep.h"

#include <errno.h>
#include <stdlib.h>

#include "event.h"
#include "replay.h"

/* A turn at the moment that the sweep has reached. */
struct live {
	uint32_t weight; /* 0: it does not hold */
	uint32_t limit;
	bool waits;
};

struct sweep {
	struct lanes *l;
	struct live *live; /* of each turn */
	/*
	 * Of each seat: 1 + the turn that has it as its lowest; 0: none.  A permit that shrinks keeps
	 * that seat, so it alone says for sure that the permit has not ended.
	 */
	uint32_t *holder;
	struct replay at;
};

/* As in the library: the override, or the smallest limit that the holders and the head declare. */
static uint32_t
limit_in_force(const struct sweep *w)
{
	uint32_t least = 0;
	bool head = true;
	size_t i;

	if (w->at.set.override >= 0)
		return (uint32_t)w->at.set.override;
	for (i = 0; i < w->l->turns; i++) {
		const struct live *v = &w->live[i];
		if (v->weight == 0 && !(v->waits && head))
			continue;
		head = head && v->weight != 0;
		if (v->limit != 0 && (least == 0 || v->limit < least))
			least = v->limit;
	}
	return least != 0 ? least : w->at.set.declared;
}

static void
add_step(struct sweep *w, uint64_t when_ns)
{
	struct lanes *l = w->l;
	struct step now = { .when_ns = when_ns, .limit = limit_in_force(w) }, *last;
	size_t i;

	for (i = 0; i < l->turns; i++) {
		now.used += w->live[i].weight;
		now.waiting += w->live[i].waits;
	}
	now.room = now.limit > w->at.set.withheld ? now.limit - w->at.set.withheld : 0;
	last = l->steps > 0 ? &l->step[l->steps - 1] : NULL;
	/*
	 * A release and the grant that it allows have the same time: keep only the state after
	 * both.
	 */
	if (last != NULL && last->when_ns >= when_ns) {
		now.when_ns = last->when_ns;
		*last = now;
		return;
	}
	if (last != NULL && last->used == now.used && last->limit == now.limit &&
	    last->room == now.room && last->waiting == now.waiting)
		return;
	l->step[l->steps++] = now;
}

static void
find_extremes(struct lanes *l)
{
	size_t i;

	for (i = 0; i < l->steps; i++) {
		const struct step *p = &l->step[i];
		l->most_used = p->used > l->most_used ? p->used : l->most_used;
		l->most_limit = p->limit > l->most_limit ? p->limit : l->most_limit;
		l->most_waiting = p->waiting > l->most_waiting ? p->waiting : l->most_waiting;
	}
}

/* Turn i gets a seat: another turn that had it as its lowest, and has not ended, ended unseen. */
static void
end_unseen(struct sweep *w, size_t i, uint32_t seat, uint64_t when_ns)
{
	uint32_t other = w->holder[seat];

	w->holder[seat] = 0;
	if (other == 0 || other == i + 1 || w->l->turn[other - 1].over)
		return;
	w->live[other - 1].weight = 0;
	w->l->turn[other - 1].over = true;
	w->l->turn[other - 1].end_ns = when_ns;
	w->l->turn[other - 1].outcome = UNTOLD;
}

static void
take_seats(struct sweep *w, size_t i, uint64_t when_ns)
{
	const struct turn *t = &w->l->turn[i];
	uint32_t seat;

	for (seat = lanes_seat_from(t, 0); seat < LANES_SEATS; seat = lanes_seat_from(t, seat + 1))
		end_unseen(w, i, seat, when_ns);
	w->holder[lanes_seat_from(t, 0)] = (uint32_t)i + 1;
}

static void
happen(struct sweep *w, const struct flk_event *e)
{
	struct turn *t = event_has_taker(e) ? lanes_find(w->l, e->ticket) : NULL;
	size_t i = t != NULL ? (size_t)(t - w->l->turn) : 0;
	struct live *v = &w->live[i];

	replay_happen(&w->at, e);
	if (t == NULL)
		return;
	if (e->kind == FLK_EV_QUEUED) {
		*v = (struct live){ .waits = true, .limit = e->limit };
	} else if (e->kind == FLK_EV_GRANTED) {
		*v = (struct live){ .weight = e->weight, .limit = e->limit };
		take_seats(w, i, e->when_ns);
	} else if (e->kind == FLK_EV_UNITS || e->kind == FLK_EV_GREW) {
		v->weight = e->weight;
	} else if (event_is_end(e)) {
		*v = (struct live){ .weight = 0 };
	}
}

/* The takers that held or waited before the first event. */
static void
stand_at_start(struct sweep *w, const struct flk_snapshot *s)
{
	struct lanes *l = w->l;
	size_t i;

	for (i = 0; i < l->events; i++) {
		const struct flk_event *e = &l->event[i];
		struct turn *t = event_has_taker(e) ? lanes_find(l, e->ticket) : NULL;
		struct live *v = t != NULL ? &w->live[t - l->turn] : NULL;
		/* Only the ticket's first event sets it: later ones find a limit there. */
		if (v != NULL && v->limit == 0)
			*v = (struct live){ .weight = t->early && t->held ? t->weight : 0,
					    .waits = t->early && t->waited,
					    .limit = e->limit };
	}
	for (i = 0; i < s->holders + s->waiters; i++) {
		const struct flk_entry *e = &s->entry[i];
		struct turn *t = lanes_find(l, e->ticket);
		struct live *v = t != NULL ? &w->live[t - l->turn] : NULL;
		if (v == NULL || e->since_ns >= l->from_ns)
			continue;
		v->limit = e->limit;
		v->weight = e->holds ? t->weight : 0;
		v->waits = !e->holds;
	}
	for (i = 0; i < l->turns; i++)
		if (w->live[i].weight != 0)
			take_seats(w, i, l->from_ns);
}

int
lanes_sweep(struct lanes *l, const struct flk_snapshot *s, uint64_t now_ns)
{
	struct sweep w = { .l = l };
	size_t i;

	l->step = calloc(l->events + 1, sizeof(*l->step));
	w.live = calloc(l->turns + 1, sizeof(*w.live));
	w.holder = calloc(LANES_SEATS, sizeof(*w.holder));
	if (l->step != NULL && w.live != NULL && w.holder != NULL) {
		replay_begin(&w.at, l->event, l->events, s, now_ns);
		stand_at_start(&w, s);
		add_step(&w, l->from_ns);
		for (i = 0; i < l->events; i++) {
			happen(&w, &l->event[i]);
			add_step(&w, l->event[i].when_ns);
		}
		find_extremes(l);
	}
	free(w.live);
	free(w.holder);
	return l->step != NULL && w.live != NULL && w.holder != NULL ? 0 : -ENOMEM;
}
