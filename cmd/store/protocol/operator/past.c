/* SPDX-License-Identifier: ISC */
/*
 * past.c - what happened before, as m/ remembers it and as those show that are there.
 *
 * Clocks differ, and so the order is that of the revisions.  The times are those that takers and operators
 * have written, but none is before what came earlier.
 */
#include <stdlib.h>
#include <string.h>

#include "now.h"
#include "protocol/run.h"
#include "roster.h"

/* What one transaction did: ends before grants. */
enum step { ENDED, CAME, HELD };

struct moment {
	int64_t revision;
	enum step step;
	int64_t when_ms;
	const struct run *run;
};

struct past {
	struct run *run;
	struct moment *moment;
	size_t runs, moments;
};

static void
add_moment(struct past *p, const struct run *r, enum step step, int64_t revision, int64_t when_ms)
{
	p->moment[p->moments++] = (struct moment){ revision, step, when_ms, r };
}

static void
add_run(struct past *p, bool is_over)
{
	const struct run *r = &p->run[p->runs++];
	const struct look_taker *t = &r->taker;
	int64_t ticket = (int64_t)look_ticket(t);

	if (r->end != RUN_STEERED) {
		if (!r->held || ticket < t->created)
			add_moment(p, r, CAME, ticket, t->person.came_ms);
		if (r->held)
			add_moment(p, r, HELD, t->created, t->record.since_ms);
	}
	if (is_over)
		add_moment(p, r, ENDED, r->ended, r->ended_ms);
}

static void
add_all(struct past *p, const struct look *l, const struct records_answer *a)
{
	char self[STORE_SELF];
	size_t i, k;

	for (i = 0; i < a->n; i++)
		for (k = 0; k < a->found[i].n; k++) {
			const struct record_kv *kv = &a->found[i].kv[k];
			if (key_parse(l->limiter, kv->key, self) == 'm' &&
			    run_decode(&p->run[p->runs], kv))
				add_run(p, true);
		}
	for (i = 0; i < l->holders + l->waiters; i++) {
		struct run *r = &p->run[p->runs];
		r->held = i < l->holders;
		r->taker = r->held ? l->holder[i] : l->waiter[i - l->holders];
		add_run(p, false);
	}
}

static int
in_order(const void *a, const void *b)
{
	const struct moment *x = a, *y = b;
	uint64_t s = look_ticket(&x->run->taker), t = look_ticket(&y->run->taker);

	if (x->revision != y->revision)
		return x->revision < y->revision ? -1 : 1;
	return x->step != y->step ? (x->step < y->step ? -1 : 1) : (s > t) - (s < t);
}

static struct flk_event
event_of(const struct moment *m, const struct person **by)
{
	static const uint32_t kinds[] = { [RUN_RELEASED] = FLK_EV_RELEASED,
					  [RUN_LEFT] = FLK_EV_LEFT,
					  [RUN_REAPED] = FLK_EV_REAPED,
					  [RUN_EVICTED] = FLK_EV_EVICTED,
					  [RUN_STEERED] = 0 };
	const struct run *r = m->run;

	*by = NULL;
	if (m->step != ENDED)
		return (struct flk_event){ .kind =
					       m->step == CAME ? FLK_EV_QUEUED : FLK_EV_GRANTED };
	if (r->end >= RUN_EVICTED)
		*by = &r->by;
	return (struct flk_event){
		.kind = kinds[r->end], .code = r->code, .memory = r->memory, .cpu_ns = r->cpu_ns
	};
}

static void
tell(struct roster *to, const struct past *p)
{
	const struct person *by;
	uint64_t last = 0;
	size_t i;

	for (i = 0; i < p->moments; i++) {
		const struct moment *m = &p->moment[i];
		const struct run *r = m->run;
		struct flk_event e = event_of(m, &by);

		e.when_ns = m->when_ms != 0 ? when_was(m->when_ms) : last;
		/* By our clock, which may have begun later: so the difference counts. */
		if (i > 0 && (int64_t)(e.when_ns - last) < 0)
			e.when_ns = last;
		last = e.when_ns;
		if (e.kind == 0)
			roster_report_settings(to, e, m->revision, &r->was, &r->is, by);
		else
			roster_report(to, e, m->revision, &r->taker, by);
	}
}

void
roster_report_past(struct roster *to, const struct look *l, const struct records_answer *a)
{
	size_t most = l->holders + l->waiters, i;
	struct past p = { .runs = 0 };

	for (i = 0; i < a->n; i++)
		most += a->found[i].n;
	p.run = calloc(most + 1, sizeof(*p.run));
	p.moment = calloc(most + 1, 3 * sizeof(*p.moment));
	if (p.run != NULL && p.moment != NULL) {
		add_all(&p, l, a);
		qsort(p.moment, p.moments, sizeof(*p.moment), in_order);
		tell(to, &p);
	} else {
		to->failed = true;
	}
	free(p.run);
	free(p.moment);
}
