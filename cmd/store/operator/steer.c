/* SPDX-License-Identifier: ISC */
/*
 * steer.c - the operators' functions of flocklimit.h, for a store: each is one question.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/state.h" /* for its pace alone */
#include "machine.h"
#include "session.h"
#include "wrapper/internal.h"

static int
ask(struct flk *f, const struct fleet_question *q, session_take *take, void *context)
{
	struct session *d;
	int error = session_of(f, &d);

	return error != 0 ? error : session_ask(d, q, SESSION_PATIENCE, take, context);
}

int
store_set(struct flk *f, unsigned which, const struct flk_settings *to)
{
	struct fleet_question q = { .kind = ASK_SET, .which = which, .to = *to };

	if ((which & FLK_SET_PACE) != 0 && flki_pace_check(&to->pace, which & FLK_SET_PACE) != 0)
		return -EINVAL;
	if ((which & (FLK_SET_GATE | FLK_SET_SEATS_OFF | FLK_SET_SEATS_ON)) != 0)
		return -ENOTSUP;
	if ((which & FLK_SET_RESTORED) != 0 && to->withheld > 0)
		return -FLK_OVERRELEASE; /* a store withholds no units */
	return ask(f, &q, NULL, NULL);
}

static int
take_settings(void *context, const struct fleet_answer *a)
{
	struct flk_settings *settings = context;

	*settings = a->view->set;
	if (settings->declared == 0)
		settings->declared = flk_cpus(100);
	return 0;
}

int
/* NOLINTNEXTLINE(readability-non-const-parameter): take_settings() writes there */
store_get(struct flk *f, struct flk_settings *settings)
{
	return ask(f, &(struct fleet_question){ .kind = ASK_LOOK }, take_settings, settings);
}

static int
take_snapshot(void *context, const struct fleet_answer *a)
{
	const struct view *v = a->view;
	size_t n = v->holders + v->waiters, i;
	struct flk_snapshot **made = context, *s;

	if (!v->there)
		return -ENOENT;
	s = malloc(sizeof(*s) + n * sizeof(s->entry[0]));
	if (s == NULL)
		return -ENOMEM;
	*s = (struct flk_snapshot){ .set = v->set,
				    .limit = view_limit(v),
				    .used = view_used(v),
				    .next_start_ns = v->next_start_ns,
				    .granted = v->tally.released,
				    .released = v->tally.released,
				    .waited = v->tally.waited,
				    .held = v->tally.held,
				    .holders = (uint32_t)v->holders,
				    .waiters = (uint32_t)v->waiters };
	if (s->set.declared == 0)
		s->set.declared = flk_cpus(100);
	if (s->limit == 0 && s->set.override == FLK_AUTO)
		s->limit = s->set.declared;
	for (i = 0; i < n; i++) {
		s->entry[i] = view_show(&v->entry[i]);
		s->entry[i].slot = (uint32_t)i;
		s->entry[i].host = machine_of(v->entry[i].host);
		if (v->entry[i].ticket > s->last_ticket)
			s->last_ticket = v->entry[i].ticket;
	}
	*made = s;
	return 0;
}

int
/* NOLINTNEXTLINE(readability-non-const-parameter): take_snapshot() writes there */
store_snapshot(struct flk *f, struct flk_snapshot **snapshot)
{
	return ask(f, &(struct fleet_question){ .kind = ASK_LOOK }, take_snapshot, snapshot);
}

int
store_remove(struct flk *f, bool steered_too)
{
	enum fleet_ask_kind kind = steered_too ? ASK_REMOVE : ASK_REMOVE_UNUSED;

	return ask(f, &(struct fleet_question){ .kind = kind }, NULL, NULL);
}

int
store_evict(struct flk *f, uint64_t ticket)
{
	return ask(f, &(struct fleet_question){ .kind = ASK_CANCEL, .ticket = ticket }, NULL, NULL);
}

int
store_break(struct flk *f, uint64_t ticket)
{
	return ask(f, &(struct fleet_question){ .kind = ASK_BREAK, .ticket = ticket }, NULL, NULL);
}

/* ---- is it whole? ---- */

struct report {
	char *why;
	size_t size;
};

static int
take_report(void *context, const struct fleet_answer *a)
{
	const struct report *r = context;

	if (r->size > 0)
		snprintf(r->why, r->size, "%s", a->code != 0 ? a->text : "");
	return a->code;
}

int
/* NOLINTNEXTLINE(readability-non-const-parameter): take_report() writes there */
store_check(struct flk *f, char *why, size_t size)
{
	struct report report = { .why = why, .size = size };

	return ask(f, &(struct fleet_question){ .kind = ASK_CHECK }, take_report, &report);
}

/* ---- what a store does not have ---- */

int
store_repair(struct flk *f)
{
	(void)f;
	return store_trouble(
	    "a store's limiter is not repaired: flocklimitctl check reports what is wrong, "
	    "and break ends a permit");
}

/* Only the keeper on the holder's machine can find the processes that keep a permit. */
size_t
/* NOLINTNEXTLINE(readability-non-const-parameter): as in flocklimit.h */
store_heirs(struct flk *f, uint32_t slot, pid_t *pid, size_t room)
{
	(void)f;
	(void)slot;
	(void)pid;
	(void)room;
	return 0;
}

/* A store has no slots. */
int
/* NOLINTNEXTLINE(readability-non-const-parameter): as in flocklimit.h */
store_is_taker(struct flk *f, uint32_t slot, pid_t pid)
{
	(void)f;
	(void)slot;
	(void)pid;
	return 0;
}
