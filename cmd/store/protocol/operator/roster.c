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
	free(p->known);
	free(p->life);
	p->known = NULL;
	p->life = NULL;
	p->n = p->room = p->lives = p->life_room = 0;
}

/* ---- events ---- */

static struct flk_event
event_now(uint32_t kind, int32_t code)
{
	return (struct flk_event){ .when_ns = flki_monotonic_ns(), .kind = kind, .code = code };
}

/* by: the operator that did it, or NULL: the taker itself did. */
static void
report(const struct roster *p, uint32_t kind, int32_t code, const struct known *x,
       const struct culprit *by)
{
	struct flk_event e = event_now(kind, code);
	const struct record *r = &x->record;

	e.ticket = x->ticket;
	e.weight = r->weight;
	e.seat = x->holds ? r->seat : 0;
	e.limit = r->limit;
	e.pid = (pid_t)(by != NULL ? by->pid : x->person.pid);
	e.uid = by != NULL ? by->uid : x->person.uid;
	flki_program_name(x->person.command, e.command);
	p->happens(p->context, &e, by != NULL ? by->host : x->person.host);
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

static struct known *
find(const struct roster *p, const char *self)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		if (strcmp(p->known[i].self, self) == 0)
			return &p->known[i];
	return NULL;
}

static struct known *
find_or_add(struct roster *p, const char *self)
{
	struct known *x = find(p, self), *more;

	if (x != NULL)
		return x;
	if (p->n == p->room) {
		more = reallocarray(p->known, p->room * 2 + 16, sizeof(*more));
		if (more == NULL) {
			p->failed = true;
			return NULL;
		}
		p->known = more;
		p->room = p->room * 2 + 16;
	}
	x = &p->known[p->n++];
	*x = (struct known){ .holds = false };
	memcpy(x->self, self, STORE_SELF);
	return x;
}

static void
drop(struct roster *p, struct known *x)
{
	*x = p->known[--p->n];
}

static void
set_taker(struct known *x, const struct record *r, bool holds, int64_t created)
{
	x->holds = holds;
	x->record = *r;
	x->ticket = holds && r->ticket != 0 ? r->ticket : (uint64_t)created;
}

/* ---- the lives ---- */

static size_t
find_life(const struct roster *p, const char *name)
{
	size_t i;

	for (i = 0; i < p->lives && strcmp(p->life[i], name) != 0; i++)
		;
	return i;
}

/* One of its leases has ended. */
static void
drop_life(struct roster *p, const char *name)
{
	size_t i = find_life(p, name);

	if (i < p->lives)
		memcpy(p->life[i], p->life[--p->lives], STORE_SELF);
}

static void
add_life(struct roster *p, const char *name)
{
	if (p->lives == p->life_room) {
		char(*more)[STORE_SELF] =
		    reallocarray(p->life, p->life_room * 2 + 16, sizeof(*more));
		if (more == NULL) {
			p->failed = true;
			return;
		}
		p->life = more;
		p->life_room = p->life_room * 2 + 16;
	}
	memcpy(p->life[p->lives++], name, STORE_SELF);
}

/* ---- one revision ---- */

static void
ended(struct roster *p, struct known *x, const struct change *c)
{
	if (c->e_put)
		report(p, FLK_EV_EVICTED, -FLK_EVICTED, x, &c->culprit);
	else if (find_life(p, x->record.life) < p->lives)
		report(p, FLK_EV_RELEASED, c->status, x, NULL);
	else
		report(p, FLK_EV_REAPED, 1, x, NULL);
	drop(p, x);
}

static void
left(struct roster *p, struct known *x, const struct change *c)
{
	if (c->e_put)
		report(p, FLK_EV_EVICTED, -FLK_EVICTED, x, &c->culprit);
	else
		report(p, FLK_EV_LEFT, p->config.closed ? -FLK_CLOSED : 0, x, NULL);
	drop(p, x);
}

/*
 * A claim puts p/ with h/ or w/.  A grant deletes w/ and puts h/.  A release deletes h/ and may put x/,
 * while the life is there; a repairer that takes a permit back does the same when it is gone.
 */
void
roster_flush(struct roster *p)
{
	struct change c = p->change;
	struct known *x;

	p->change.self[0] = '\0';
	if (c.self[0] == '\0')
		return;
	x = find(p, c.self);
	if (c.h_put || c.w_put) {
		if ((x = find_or_add(p, c.self)) == NULL)
			return;
		set_taker(x, &c.record, c.h_put, c.created);
		if (c.p_put)
			x->person = c.person;
		report(p, c.h_put ? FLK_EV_GRANTED : FLK_EV_QUEUED, 0, x, NULL);
	} else if (c.h_deleted && x != NULL && x->holds) {
		ended(p, x, &c);
	} else if (c.w_deleted && x != NULL && !x->holds) {
		left(p, x, &c);
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
	case 'p':
		to->p_put |= !c->deleted;
		if (!c->deleted)
			person_decode(&to->person, c->kv.value, c->kv.value_size);
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
	if (kind == 'l') {
		roster_flush(p);
		if (c->deleted)
			drop_life(p, self);
		else if (c->kv.created == c->kv.changed)
			add_life(p, self);
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
meet(struct roster *p, const struct look_taker *t, bool holds, bool quiet)
{
	const struct known *known = find(p, t->self);
	bool news = known == NULL || known->holds != holds;
	struct known *x = find_or_add(p, t->self);

	if (x == NULL)
		return;
	set_taker(x, &t->record, holds, t->created);
	x->person = t->person;
	if (news && !quiet)
		report(p, holds ? FLK_EV_GRANTED : FLK_EV_QUEUED, 0, x, NULL);
}

static void
mark(struct roster *p, const char *self)
{
	struct known *x = find(p, self);

	if (x != NULL)
		x->present = true;
}

/* Report the takers that are gone first: others were granted what they held. */
/* Reports each of these takers that is there no more, in any state. */
static void
report_the_gone(struct roster *p, const struct look *l)
{
	size_t i;

	for (i = 0; i < p->n; i++)
		p->known[i].present = false;
	for (i = 0; i < l->holders; i++)
		mark(p, l->holder[i].self);
	for (i = 0; i < l->waiters; i++)
		mark(p, l->waiter[i].self);
	for (i = p->n; i > 0; i--) {
		struct known *x = &p->known[i - 1];
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
	unsigned n;
	size_t i;

	roster_flush(p);
	steered(p, &l->config, quiet, NULL);
	report_the_gone(p, l);
	p->lives = 0;
	for (i = 0; i < l->lives; i++)
		for (n = 0; n < l->life[i].leases; n++)
			add_life(p, l->life[i].name);
	for (i = 0; i < l->holders; i++)
		meet(p, &l->holder[i], true, quiet);
	for (i = 0; i < l->waiters; i++)
		meet(p, &l->waiter[i], false, quiet);
}
