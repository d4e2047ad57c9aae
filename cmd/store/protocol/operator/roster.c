/* SPDX-License-Identifier: ISC */
/*
 * roster.c - see roster.h.
 */
#include "roster.h"

#include <stdlib.h>
#include <string.h>

#include "program.h"
#include "setting.h"

/* gcc 12 mistakes an array that has not grown for its old memory. */
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wanalyzer-double-free"
#pragma GCC diagnostic ignored "-Wanalyzer-use-after-free"
#endif

void
roster_free(struct roster *p)
{
	free(p->person);
	p->person = NULL;
	p->n = p->room = 0;
}

/* ---- events ---- */

static struct flk_event
event_now(uint32_t kind, int32_t code)
{
	return (struct flk_event){ .when_ns = flki_monotonic_ns(), .kind = kind, .code = code };
}

/* by: the operator that did it, or NULL: the taker itself did. */
static void
report(const struct roster *p, uint32_t kind, int32_t code, const struct person *x,
       const struct culprit *by)
{
	struct flk_event e = event_now(kind, code);
	const struct record *r = &x->record;

	e.ticket = x->ticket;
	e.weight = r->weight;
	e.seat = x->holds ? r->seat : 0;
	e.limit = r->limit;
	e.pid = (pid_t)(by != NULL ? by->pid : r->pid);
	e.uid = by != NULL ? by->uid : r->uid;
	flki_program_name(r->command, e.command);
	p->happens(p->context, &e, by != NULL ? by->host : r->host);
}

static void
report_steering(const struct roster *p, uint32_t kind, int32_t code, const struct culprit *by)
{
	struct flk_event e = event_now(kind, code);

	if (by != NULL) {
		e.pid = (pid_t)by->pid;
		e.uid = by->uid;
	}
	p->happens(p->context, &e, by != NULL ? by->host : NULL);
}

/* by: NULL if unknown. */
static void
steered(struct roster *p, const struct flk_settings *new, bool quiet, const struct culprit *by)
{
	struct flk_settings old = p->config;
	const struct flki_number *n;

	p->config = *new;
	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS && !quiet; n++) {
		int64_t value = flki_number_get(n, new);
		if (value == flki_number_get(n, &old) || (n->kind == FLKI_COUNT && value == 0))
			continue;
		report_steering(p, value != n->none ? n->set : n->over,
				n->kind != FLKI_SWITCH ? (int32_t)value : 0, by);
	}
}

/* ---- the takers that are there ---- */

static struct person *
find(const struct roster *p, const char *self)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->person[i].self, self) == 0)
			return &p->person[i];
	return NULL;
}

static struct person *
find_or_add(struct roster *p, const char *self)
{
	struct person *x = find(p, self), *more;

	if (x != NULL)
		return x;
	if (p->n == p->room) {
		more = reallocarray(p->person, p->room * 2 + 16, sizeof(*more));
		if (more == NULL) {
			p->failed = true;
			return NULL;
		}
		p->person = more;
		p->room = p->room * 2 + 16;
	}
	x = &p->person[p->n++];
	*x = (struct person){ .alive = false };
	memcpy(x->self, self, STORE_SELF);
	return x;
}

static void
drop(struct roster *p, struct person *x)
{
	*x = p->person[--p->n];
}

static void
set_person(struct person *x, const struct record *r, bool holds, bool alive, int64_t created)
{
	x->holds = holds;
	x->alive = alive;
	x->record = *r;
	x->ticket = holds && r->ticket != 0 ? r->ticket : (uint64_t)created;
}

/* ---- one revision ---- */

static void
ended(struct roster *p, struct person *x, const struct change *c)
{
	if (c->e_put)
		report(p, FLK_EV_EVICTED, -FLK_EVICTED, x, &c->culprit);
	else if (x->alive || c->l_deleted)
		report(p, FLK_EV_RELEASED, c->status, x, NULL);
	else
		report(p, FLK_EV_REAPED, 1, x, NULL);
	drop(p, x);
}

static void
left(struct roster *p, struct person *x, const struct change *c)
{
	if (c->e_put)
		report(p, FLK_EV_EVICTED, -FLK_EVICTED, x, &c->culprit);
	else
		report(p, FLK_EV_LEFT, p->config.closed ? -FLK_CLOSED : 0, x, NULL);
	drop(p, x);
}

/*
 * A grant deletes w/ and puts h/ and l/.  A release deletes h/ and l/, and puts x/.  A repairer that takes a
 * permit back deletes only h/, as l/ is gone by then.  A put of l/ alone is a re-attach.
 */
void
roster_flush(struct roster *p)
{
	struct change c = p->change;
	struct person *x;

	p->change.self[0] = '\0';
	if (c.self[0] == '\0')
		return;
	x = find(p, c.self);
	if (c.h_put) {
		if ((x = find_or_add(p, c.self)) != NULL) {
			set_person(x, &c.record, true, c.l_put, c.created);
			report(p, FLK_EV_GRANTED, 0, x, NULL);
		}
	} else if (c.h_deleted && x != NULL && x->holds) {
		ended(p, x, &c);
	} else if (c.w_put) {
		if ((x = find_or_add(p, c.self)) != NULL) {
			set_person(x, &c.record, false, false, c.created);
			report(p, FLK_EV_QUEUED, 0, x, NULL);
		}
	} else if (c.w_deleted && x != NULL && !x->holds) {
		left(p, x, &c);
	} else if (x != NULL && (c.l_put || c.l_deleted)) {
		x->alive = c.l_put;
	}
}

static void
note(struct change *to, char kind, const struct records_change *c)
{
	struct record r;

	switch (kind) {
	case 'h':
	case 'w':
		if (c->deleted) {
			to->h_deleted |= kind == 'h';
			to->w_deleted |= kind == 'w';
			break;
		}
		/* A rewrite of an older key is no new taker. */
		if (c->kv.created != c->kv.changed)
			break;
		to->h_put |= kind == 'h';
		to->w_put |= kind == 'w';
		record_decode(&r, c->kv.value, c->kv.value_size);
		if (kind == 'h' || !to->h_put) {
			to->record = r;
			to->created = c->kv.created;
		}
		break;
	case 'l':
		to->l_put |= !c->deleted;
		to->l_deleted |= c->deleted;
		break;
	case 'e':
		to->e_put |= !c->deleted;
		if (!c->deleted)
			culprit_decode(&to->culprit, c->kv.value, c->kv.value_size);
		break;
	case 'x':
		if (!c->deleted)
			to->status = status_decode(c->kv.value, c->kv.value_size);
		break;
	default:
		break;
	}
}

void
roster_change(struct roster *p, const struct records_change *c)
{
	struct flk_settings config = flki_no_settings;
	struct culprit by;
	char self[STORE_SELF];
	char kind = key_parse(&p->limiter, c->kv.key, self);

	if (kind == 'c') {
		roster_flush(p);
		/* Skip a cfg that makes no sense: flocklimitctl check reports it. */
		if (c->deleted || config_decode(&config, c->kv.value, c->kv.value_size))
			steered(p, &config, c->deleted,
				config_signer(&by, c->kv.value, c->kv.value_size) ? &by : NULL);
		return;
	}
	if (self[0] == '\0' || kind == 's' || kind == 't')
		return;
	if (strcmp(p->change.self, self) != 0 || p->change.revision != c->kv.changed) {
		roster_flush(p);
		p->change = (struct change){ .revision = c->kv.changed, .status = FLK_UNKNOWN };
		memcpy(p->change.self, self, STORE_SELF);
	}
	note(&p->change, kind, c);
}

/* ---- all of it ---- */

static void
meet(struct roster *p, const char *self, const struct record *r, bool holds, bool alive,
     int64_t created, bool quiet)
{
	const struct person *known = find(p, self);
	bool news = known == NULL || known->holds != holds;
	struct person *x = find_or_add(p, self);

	if (x == NULL)
		return;
	set_person(x, r, holds, alive, created);
	if (news && !quiet)
		report(p, holds ? FLK_EV_GRANTED : FLK_EV_QUEUED, 0, x, NULL);
}

static void
mark(struct roster *p, const char *self)
{
	struct person *x = find(p, self);

	if (x != NULL)
		x->present = true;
}

/* Report the takers that are gone first: others were granted what they held. */
static void
report_the_gone(struct roster *p, const struct look *l)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		p->person[i].present = false;
	for (i = 0; i < l->holders; i++)
		mark(p, l->holder[i].self);
	for (i = 0; i < l->waiters; i++)
		mark(p, l->waiter[i].self);
	for (i = p->n; i > 0; i--) {
		struct person *x = &p->person[i - 1];
		if (x->present)
			continue;
		report(p, x->holds ? FLK_EV_RELEASED : FLK_EV_LEFT, x->holds ? FLK_UNKNOWN : 0, x,
		       NULL);
		drop(p, x);
	}
}

void
roster_read(struct roster *p, const struct look *l, bool quiet)
{
	size_t i;

	roster_flush(p);
	steered(p, &l->config, quiet, NULL);
	report_the_gone(p, l);
	for (i = 0; i < l->holders; i++)
		meet(p, l->holder[i].self, &l->holder[i].record, true, l->holder[i].alive,
		     l->holder[i].created, quiet);
	for (i = 0; i < l->waiters; i++)
		meet(p, l->waiter[i].self, &l->waiter[i].record, false, false, l->waiter[i].created,
		     quiet);
}
