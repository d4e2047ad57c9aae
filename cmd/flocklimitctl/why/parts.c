/* SPDX-License-Identifier: ISC */
#include "parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "line.h"
#include "steering.h"

struct walk {
	struct line line;
	struct steering steering;
	struct why *why;
	double *blamed; /* of each person of the line, for each reason */
};

/* Why the ticket has no permit at a moment, and until when at most that is so. */
struct verdict {
	enum why_reason reason;
	struct person *person; /* NULL: nobody is to blame */
	uint64_t until_ns;
};

static uint64_t
minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* The holder of the most units, of those that came later than that ticket. */
static struct person *
heaviest_after(const struct line *l, uint64_t ticket)
{
	struct person *most = NULL, *p;

	for (p = l->person; p < l->person + l->n; p++)
		if (p->holds && p->ticket > ticket && (most == NULL || p->weight > most->weight))
			most = p;
	return most;
}

/* Holders have the units that the head needs.  It is their turn, unless they came later. */
static struct verdict
lacks_units(const struct line *l, const struct person *head, uint64_t limit)
{
	if (line_used_by(l, head->ticket) + head->weight <= limit)
		return (struct verdict){ WHY_PASSED, heaviest_after(l, head->ticket), UINT64_MAX };
	return (struct verdict){ WHY_UNITS, heaviest_after(l, 0), UINT64_MAX };
}

/* The head might start, as far as the history knows. */
static struct verdict
nothing_found(const struct steering *t, struct person *head)
{
	struct verdict v = { WHY_LATE, head, UINT64_MAX };

	if (t->at.perhaps_paused)
		return (struct verdict){ WHY_PAUSE, NULL, UINT64_MAX };
	if (t->at.set.gate.when[0] != '\0' || t->asking == head->ticket)
		return (struct verdict){ WHY_GATE, NULL, UINT64_MAX };
	if ((t->at.unknown & (FLK_SET_OVERRIDE | FLK_SET_PACE | FLK_SET_GATE)) != 0)
		v = (struct verdict){ WHY_UNKNOWN, NULL, UINT64_MAX };
	return v;
}

static uint64_t
below(uint64_t limit)
{
	return limit < FLK_SEATS ? (UINT64_C(1) << limit) - 1 : UINT64_MAX;
}

/* How many of the first so many seats are out of use and not held. */
static uint64_t
seats_lost(const struct walk *w, uint64_t limit)
{
	uint64_t off = w->steering.at.set.seats_off & ~line_seats(&w->line) & below(limit);

	return (uint64_t)__builtin_popcountll(off);
}

/*
 * Some seats are excluded, by the head or by being out of use.  Are too few of those below the limit
 * left by that, or, with HELD, by the holders as well?
 */
static bool
lacks_seats(const struct walk *w, const struct person *head, uint64_t limit, bool held)
{
	uint64_t excluded = head->not_seats | w->steering.at.set.seats_off,
		 unusable = held ? excluded | line_seats(&w->line) : excluded;

	/* With a weight above the limit in force, it runs alone on the seats of its own limit. */
	if (head->weight > limit && head->limit != 0)
		limit = head->limit;
	return excluded != 0 && limit <= FLK_SEATS &&
	       (uint32_t)__builtin_popcountll(below(limit) & ~unusable) < head->weight;
}

/* What holds up the head, by the rule of lib/room.c. */
static struct verdict
judge_head(const struct walk *w, struct person *head, uint64_t at_ns)
{
	const struct steering *t = &w->steering;
	const struct flk_settings *set = &t->at.set;
	struct person *strict = line_strictest(&w->line);
	uint64_t own = head->limit != 0 ? head->limit : UINT64_MAX, said;
	uint64_t need = line_used_by(&w->line, UINT64_MAX) + head->weight,
		 start = steering_start(t);

	own = set->override >= 0 ? (uint64_t)set->override : own;
	said = set->override < 0 && strict != NULL && strict->limit < own ? strict->limit : own;
	if (line_holders(&w->line) > 0) {
		if (need > own)
			return lacks_units(&w->line, head, own);
		if (need > said)
			return (struct verdict){ WHY_PROMISE, strict, UINT64_MAX };
		if (need > minus(said, set->withheld + seats_lost(w, said)))
			return (struct verdict){ WHY_WITHHELD, NULL, UINT64_MAX };
		if (need + set->withheld > steering_capacity(t, at_ns))
			return (struct verdict){ WHY_PACE, NULL,
						 steering_ramp_reaches(t, need + set->withheld) };
	} else if (said <= set->withheld) {
		return (struct verdict){ WHY_WITHHELD, NULL, UINT64_MAX };
	}
	if (lacks_seats(w, head, said, false))
		return (struct verdict){ WHY_WITHHELD, NULL, UINT64_MAX };
	if (lacks_seats(w, head, said, true))
		return (struct verdict){ WHY_SEATS, heaviest_after(&w->line, 0), UINT64_MAX };
	if (at_ns < start)
		return (struct verdict){ WHY_PACE, NULL, start };
	return nothing_found(t, head);
}

static struct verdict
judge(const struct walk *w, uint64_t at_ns)
{
	const struct person *me = line_find(&w->line, w->why->ticket);
	struct person *head = line_head(&w->line);
	struct verdict v;

	if (w->steering.at.set.paused || w->steering.at.set.override == 0)
		return (struct verdict){ WHY_PAUSE, NULL, UINT64_MAX };
	if (head == NULL || !me->waits)
		return (struct verdict){ WHY_UNKNOWN, NULL, UINT64_MAX };
	v = judge_head(w, head, at_ns);
	if (head->ticket == w->why->ticket || v.reason == WHY_PAUSE || v.reason == WHY_UNKNOWN ||
	    v.reason == WHY_LATE)
		return v;
	return (struct verdict){ head->ticket > w->why->ticket ? WHY_PASSED : WHY_LINE, head,
				 v.until_ns };
}

static void
add(struct walk *w, const struct verdict *v, uint64_t ns)
{
	bool has_units = v->person != NULL && v->person->holds && v->reason != WHY_PROMISE;
	uint64_t units = has_units ? v->person->weight : 1;

	w->why->part[v->reason].ns += ns;
	if (v->person != NULL)
		w->blamed[(size_t)(v->person - w->line.person) * WHY_REASONS + v->reason] +=
		    (double)ns * (double)units;
}

/* Nothing happens between these times, but time alone may change the reason. */
static void
pass(struct walk *w, uint64_t since_ns, uint64_t until_ns)
{
	uint64_t end;

	since_ns = since_ns > w->why->from_ns ? since_ns : w->why->from_ns;
	until_ns = until_ns < w->why->to_ns ? until_ns : w->why->to_ns;
	while (since_ns < until_ns) {
		struct verdict v = judge(w, since_ns);
		end = v.until_ns > since_ns && v.until_ns < until_ns ? v.until_ns : until_ns;
		add(w, &v, end - since_ns);
		since_ns = end;
	}
}

static struct why_taker
taker_of(const struct person *p)
{
	struct why_taker t = { .ticket = p->ticket, .weight = p->weight, .limit = p->limit };

	memcpy(t.command, p->command, sizeof(t.command));
	return t;
}

static void
find_blamed(struct walk *w)
{
	size_t i, reason;

	for (reason = 0; reason < WHY_REASONS; reason++) {
		double most = 0;
		for (i = 0; i < w->line.n; i++) {
			double blamed = w->blamed[i * WHY_REASONS + reason];
			if (blamed <= most)
				continue;
			most = blamed;
			w->why->part[reason].taker = taker_of(&w->line.person[i]);
		}
	}
}

static enum why_fate
fate_of(const struct flk_event *e)
{
	switch (e->kind) {
	case FLK_EV_GRANTED:
		return WHY_GRANTED;
	case FLK_EV_LEFT:
		return WHY_LEFT;
	case FLK_EV_EVICTED:
		return WHY_CANCELLED;
	default:
		return WHY_REAPED;
	}
}

static const struct flk_entry *
waiter_of(const struct flk_snapshot *s, uint64_t ticket)
{
	uint32_t i;

	for (i = s->holders; i < s->holders + s->waiters; i++)
		if (s->entry[i].ticket == ticket)
			return &s->entry[i];
	return NULL;
}

/* Of a wait that has not ended.  A ticket that came after the snapshot is in the events alone. */
static enum why_fate
fate_yet(const struct person *p, bool queued, bool waits)
{
	if (waits || (queued && !p->lost))
		return WHY_WAITS;
	return queued ? WHY_NO_END : WHY_FORGOTTEN;
}

/*
 * What the events and the snapshot say of the ticket: when its wait began and ended, and how.  The
 * walk has not begun: the person is as it was before the first event.
 */
static void
find_wait(struct why *y, const struct person *p, const struct flk_event *event, size_t events,
	  const struct flk_snapshot *s, uint64_t now_ns)
{
	const struct flk_event *queued = NULL, *end = NULL, *e;
	const struct flk_entry *waiter = waiter_of(s, y->ticket);

	for (e = event; e < event + events && end == NULL; e++) {
		if (e->ticket != y->ticket || !event_has_taker(e))
			continue;
		if (e->kind == FLK_EV_QUEUED)
			queued = e;
		else
			end = e;
	}
	y->early = queued == NULL && waiter == NULL;
	if (queued != NULL)
		y->from_ns = queued->when_ns;
	else if (waiter != NULL)
		y->from_ns = waiter->since_ns;
	else
		y->from_ns = events > 0 ? event[0].when_ns : now_ns;
	y->to_ns = end != NULL ? end->when_ns : now_ns;
	y->fate = end != NULL ? fate_of(end) : fate_yet(p, queued != NULL, waiter != NULL);
	if (y->fate == WHY_NO_END)
		y->to_ns = event[events - 1].when_ns;
	if (end != NULL && y->early && (event_is_of_holder(end) || end->kind == FLK_EV_GRANTED))
		y->fate = event_is_of_holder(end) || p->waits ? WHY_FORGOTTEN : WHY_NO_WAIT;
	if (y->fate == WHY_FORGOTTEN || y->fate == WHY_NO_WAIT || y->from_ns > y->to_ns)
		y->from_ns = y->to_ns;
}

/* The known part of the wait is a part of the time that the events are about, and of now. */
static void
play(struct walk *w, const struct flk_event *event, size_t events, uint64_t now_ns)
{
	uint64_t at_ns = events > 0 ? event[0].when_ns : now_ns, when_ns;
	size_t i, before;

	w->why->part[WHY_UNKNOWN].ns =
	    minus(at_ns < w->why->to_ns ? at_ns : w->why->to_ns, w->why->from_ns);
	for (i = 0; i < events; i++) {
		when_ns = event[i].when_ns > at_ns ? event[i].when_ns : at_ns;
		pass(w, at_ns, when_ns);
		at_ns = when_ns;
		before = line_holders(&w->line);
		line_happen(&w->line, &event[i]);
		steering_happen(&w->steering, &event[i], before, line_holders(&w->line));
	}
	pass(w, at_ns, UINT64_MAX);
}

int
why_parts(struct why *why, uint64_t ticket, const struct flk_event *event, size_t events,
	  const struct flk_snapshot *s, uint64_t now_ns)
{
	struct walk w = { .why = why };
	const struct person *p;

	*why = (struct why){ .ticket = ticket, .drawn = ticket <= s->last_ticket };
	if (line_begin(&w.line, event, events, s) != 0)
		return -ENOMEM;
	w.blamed = calloc(w.line.n + 1, WHY_REASONS * sizeof(*w.blamed));
	if (w.blamed == NULL) {
		line_free(&w.line);
		return -ENOMEM;
	}
	steering_begin(&w.steering, event, events, s);
	if ((p = line_find(&w.line, ticket)) != NULL) {
		find_wait(why, p, event, events, s, now_ns);
		play(&w, event, events, now_ns);
		why->taker = taker_of(p);
		find_blamed(&w);
	}
	free(w.blamed);
	line_free(&w.line);
	return 0;
}
