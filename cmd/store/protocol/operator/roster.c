/* SPDX-License-Identifier: ISC */
/*
 * roster.c - see roster.h.
 */
#include "roster.h"

#include <string.h>

#include "program.h"
#include "protocol/run.h"
#include "protocol/steering.h"
#include "setting.h"

/* ---- events ---- */

void
roster_report(struct roster *p, struct flk_event e, int64_t revision, const struct look_taker *t,
	      const struct person *by)
{
	uint64_t number = (uint64_t)revision
			  << 8; /* more than one revision has, in all likelihood */
	const char *host = NULL;

	e.number = p->number = number > p->number ? number : p->number + 1;
	if (t != NULL) {
		e.ticket = look_ticket(t);
		e.weight = t->record.weight;
		e.seat = t->record.seat;
		e.limit = e.kind != FLK_EV_RELEASED ? t->record.limit : 0;
		e.pid = (pid_t)t->person.pid;
		e.uid = t->person.uid;
		host = t->person.host;
		flki_program_name(t->person.command, e.command);
	}
	if (by != NULL) {
		e.pid = (pid_t)by->pid;
		e.uid = by->uid;
		host = by->host;
	}
	p->happens(p->context, &e, host);
}

void
roster_report_settings(struct roster *p, struct flk_event e, int64_t revision,
		       const struct flk_settings *was, const struct flk_settings *is,
		       const struct person *by)
{
	const struct flki_number *n;

	if (!starts_same_pace(&was->pace, &is->pace)) {
		e.kind = FLK_EV_PACED;
		e.code = (int32_t)steering_differs(was, FLK_SET_PACE, is);
		e.pace = is->pace;
		roster_report(p, e, revision, NULL, by);
	}
	if (was->fair != is->fair) {
		e.kind = is->fair != FLK_FAIR_OFF ? FLK_EV_FAIR : FLK_EV_UNFAIR;
		e.code = (int32_t)is->fair;
		roster_report(p, e, revision, NULL, by);
	}
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++) {
		int64_t value = flki_number_get(n, is);
		if (value == flki_number_get(n, was) || (n->kind == FLKI_COUNT && value == 0))
			continue;
		e.kind = value != n->none ? n->set : n->over;
		e.code = n->kind != FLKI_SWITCH ? (int32_t)value : 0;
		roster_report(p, e, revision, NULL, by);
	}
}

/* One that has just happened. */
static struct flk_event
event(enum flk_event_kind kind, int32_t code)
{
	return (struct flk_event){ .when_ns = flki_monotonic_ns(), .kind = kind, .code = code };
}

static void
report(struct roster *p, enum flk_event_kind kind, int32_t code, int64_t revision,
       const struct look_taker *t)
{
	roster_report(p, event(kind, code), revision, t, NULL);
}

static void
steered(struct roster *p, const struct flk_settings *new, bool quiet, int64_t revision,
	const struct person *by)
{
	struct flk_settings old = p->look.config;

	p->look.config = *new;
	if (!quiet)
		roster_report_settings(p, event(0, 0), revision, &old, new, by);
}

/* ---- the takers that are there ---- */

static const struct look_taker *
find(const struct look *l, const char *self, bool *holds)
{
	const struct look_taker *t = look_holder(l, self);

	*holds = t != NULL;
	return t != NULL ? t : look_waiter(l, self);
}

/* The order of a roster's takers does not matter. */
static void
drop(struct look *l, const char *self)
{
	struct look_taker *h = look_holder(l, self), *w = look_waiter(l, self);

	if (h != NULL)
		*h = l->holder[--l->holders];
	if (w != NULL)
		*w = l->waiter[--l->waiters];
}

/* ---- one revision ---- */

static void
ended(struct roster *p, const struct look_taker *t, bool held, const struct change *c)
{
	const struct look_life *life = look_life(&p->look, t->record.life);
	struct flk_event e = event(FLK_EV_RELEASED, c->code);
	int64_t revision = c->taker.changed;

	e.memory = c->memory;
	e.cpu_ns = c->cpu_ns;
	if (c->e_put)
		roster_report(p, event(FLK_EV_EVICTED, -FLK_EVICTED), revision, t, &c->by);
	else if (!held)
		report(p, FLK_EV_LEFT, p->look.config.closed ? -FLK_CLOSED : 0, revision, t);
	else if (life != NULL && life->leases > 0)
		roster_report(p, e, revision, t, NULL);
	else
		report(p, FLK_EV_REAPED, 1, revision, t);
}

/*
 * A claim puts p/ with h/ or w/.  A grant deletes w/ and puts h/.  A release deletes h/ and puts m/
 * while the life is there; a repairer that takes a permit back does the same when it is gone.
 */
void
roster_flush(struct roster *p)
{
	struct change c = p->change;
	struct look *l = &p->look;
	const struct look_taker *was;
	struct look_taker *now;
	bool held;

	p->change.taker.self[0] = '\0';
	if (c.taker.self[0] == '\0')
		return;
	was = find(l, c.taker.self, &held);
	if (c.h_put || c.w_put) {
		if (!c.p_put && was != NULL)
			c.taker.person = was->person;
		drop(l, c.taker.self);
		now = c.h_put ? look_add_holder(l) : look_add_waiter(l);
		if (now == NULL) {
			p->failed = true;
			return;
		}
		*now = c.taker;
		report(p, c.h_put ? FLK_EV_GRANTED : FLK_EV_QUEUED, 0, c.taker.changed, now);
	} else if (was != NULL && (held ? c.h_deleted : c.w_deleted)) {
		ended(p, was, held, &c);
		drop(l, c.taker.self);
	}
}

static void
note_record(struct change *to, bool holds, const struct record_kv *kv)
{
	/* A rewrite of an older key is no new taker. */
	if (kv->created != kv->changed)
		return;
	to->h_put |= holds;
	to->w_put |= !holds;
	if (!holds && to->h_put)
		return;
	record_decode(&to->taker.record, kv->value, kv->value_size);
	to->taker.created = kv->created;
}

static void
note(struct change *to, char kind, const struct records_change *c)
{
	if (c->deleted) {
		to->h_deleted |= kind == 'h';
		to->w_deleted |= kind == 'w';
	} else if (kind == 'h' || kind == 'w') {
		note_record(to, kind == 'h', &c->kv);
	} else if (kind == 'p') {
		to->p_put = true;
		person_decode(&to->taker.person, c->kv.value, c->kv.value_size);
	} else if (kind == 'e') {
		to->e_put = true;
		person_decode(&to->by, c->kv.value, c->kv.value_size);
	}
}

/* It follows what goes of its taker. */
static void
note_run(struct change *to, const struct record_kv *kv)
{
	struct run r;

	if (kv->changed != to->taker.changed || !run_decode(&r, kv) || r.end != RUN_RELEASED)
		return;
	to->code = r.code;
	to->memory = r.memory;
	to->cpu_ns = r.cpu_ns;
}

void
roster_change(struct roster *p, const struct records_change *c)
{
	struct flk_settings config = flki_no_settings;
	struct look_taker *t = &p->change.taker;
	struct person by;
	char self[STORE_SELF];
	char kind = key_parse(p->look.limiter, c->kv.key, self);

	if (kind == 'c') {
		roster_flush(p);
		/* Skip a cfg that makes no sense: flocklimitctl check reports it. */
		if (c->deleted || config_decode(&config, c->kv.value, c->kv.value_size))
			steered(p, &config, c->deleted, c->kv.changed,
				config_signer(&by, c->kv.value, c->kv.value_size) ? &by : NULL);
		return;
	}
	if (kind == 'l') {
		roster_flush(p);
		p->failed |= !look_apply(&p->look, c) && !c->deleted;
		return;
	}
	if (kind == 'm' && !c->deleted)
		note_run(&p->change, &c->kv);
	if (self[0] == '\0' || strchr("mnst", kind) != NULL)
		return;
	if (strcmp(t->self, self) != 0 || t->changed != c->kv.changed) {
		roster_flush(p);
		p->change = (struct change){ .code = FLK_UNKNOWN };
		memcpy(t->self, self, STORE_SELF);
		t->changed = c->kv.changed;
	}
	note(&p->change, kind, c);
}

/* ---- all of it ---- */

/* Reports each of these takers that `was' does not have, or has in the other state. */
static void
report_the_new(struct roster *p, const struct look_taker *t, size_t n, bool hold,
	       const struct look *was)
{
	size_t i;

	for (i = 0; i < n; i++)
		if ((hold ? look_holder(was, t[i].self) : look_waiter(was, t[i].self)) == NULL)
			report(p, hold ? FLK_EV_GRANTED : FLK_EV_QUEUED, 0, p->look.read, &t[i]);
}

/* Reports each of these takers that is there no more, in any state. */
static void
report_the_gone(struct roster *p, const struct look_taker *t, size_t n, bool held)
{
	bool holds;
	size_t i;

	for (i = 0; i < n; i++)
		if (find(&p->look, t[i].self, &holds) == NULL)
			report(p, held ? FLK_EV_RELEASED : FLK_EV_LEFT, held ? FLK_UNKNOWN : 0,
			       p->look.read, &t[i]);
}

void
roster_read(struct roster *p, struct look *l)
{
	struct look was;

	roster_flush(p);
	if (p->look.read != 0)
		steered(p, &l->config, false, l->read, NULL);
	was = p->look;
	p->look = *l;
	*l = was;
	if (was.read == 0)
		return;
	/* Report the takers that are gone first: others were granted what they held. */
	report_the_gone(p, was.holder, was.holders, true);
	report_the_gone(p, was.waiter, was.waiters, false);
	report_the_new(p, p->look.holder, p->look.holders, true, &was);
	report_the_new(p, p->look.waiter, p->look.waiters, false, &was);
}
