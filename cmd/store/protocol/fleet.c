/* SPDX-License-Identifier: ISC */
/*
 * fleet.c - a limiter in a store: opening it, and its one loop.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/taker/taker.h"
#include "kind.h"

#define MIN_TIMEOUT_MS 500

_Static_assert(FLEET_TEXT == RECORDS_TEXT, "what records_open() says is passed on");

/* ---- open and close ---- */

int
fleet_open(struct fleet **to, const struct fleet_options *o, char why[FLEET_TEXT])
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));
	unsigned timeout_ms = o->ttl_s < 60 ? o->ttl_s * 1000 / 6 : 10000;
	int error;

	*to = NULL;
	if (fleet == NULL) {
		snprintf(why, FLEET_TEXT, "out of memory");
		return -FLK_STORE;
	}
	if (strlen(o->url->path) > KEY_PATH_MAX) {
		snprintf(why, FLEET_TEXT, "its path is longer than %d bytes", KEY_PATH_MAX);
		free(fleet);
		return -FLK_STORE;
	}
	LIST_INIT(&fleet->takers);
	LIST_INIT(&fleet->freed);
	LIST_INIT(&fleet->parts);
	fleet->named = o->limiter != NULL;
	fleet->base = key_base(o->url);
	fleet->limiter = key_limiter(o->url, fleet->named ? o->limiter : "");
	fleet->ttl_s = o->ttl_s;
	fleet->grace_s = o->grace_s;
	fleet->manual = o->manual;
	fleet->timeout_ms = timeout_ms > MIN_TIMEOUT_MS ? timeout_ms : MIN_TIMEOUT_MS;
	record_host(fleet->host);
	life_begin(&fleet->life, fleet, o->life, o->heir);
	/* A holder whose store has moved must find it before its ttl is over: so it looks that often. */
	if ((error = records_open(&fleet->records, o->url, fleet->timeout_ms, why)) != 0) {
		free(fleet);
		return error;
	}
	*to = fleet;
	return 0;
}

static void
bury(struct fleet *fleet)
{
	struct fleet_taker *t;

	while ((t = LIST_FIRST(&fleet->freed)) != NULL) {
		LIST_REMOVE(t, link);
		free(t);
	}
}

void
fleet_close(struct fleet *fleet)
{
	struct fleet_part *part;

	if (fleet == NULL)
		return;
	while (!LIST_EMPTY(&fleet->takers))
		fleet_taker_free(LIST_FIRST(&fleet->takers));
	life_stop(&fleet->life);
	while ((part = LIST_FIRST(&fleet->parts)) != NULL) {
		LIST_REMOVE(part, link);
		part->end(part);
	}
	bury(fleet);
	records_close(fleet->records);
	free(fleet);
}

/* ---- the loop ---- */

int
fleet_fd(const struct fleet *fleet)
{
	return records_fd(fleet->records);
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t
fleet_due(const struct fleet *fleet)
{
	uint64_t due = earlier(records_due(fleet->records), fleet->life.due_ns);
	const struct fleet_taker *t;
	const struct fleet_part *part;

	LIST_FOREACH(t, &fleet->takers, link)
		due = earlier(due, taker_due(t));
	LIST_FOREACH(part, &fleet->parts, link)
		due = earlier(due, part->due_ns);
	return due;
}

/*
 * Events from the store come first: a keeper that was stopped for a while must not decide by what
 * it knew before.
 */
void
fleet_step(struct fleet *fleet)
{
	struct fleet_taker *t, *next;
	struct fleet_part *part, *next_part;
	uint64_t now;

	fleet->stepping = true;
	records_step(fleet->records);
	now = flki_boottime_ns();
	life_step(&fleet->life, now);
	for (t = LIST_FIRST(&fleet->takers); t != NULL; t = next) {
		if (taker_due(t) <= now)
			taker_step(t, now);
		/* If that freed the taker, it is in the other list. */
		next = t->freed ? LIST_FIRST(&fleet->takers) : LIST_NEXT(t, link);
	}
	for (part = LIST_FIRST(&fleet->parts); part != NULL; part = next_part) {
		next_part = LIST_NEXT(part, link);
		if (part->due_ns <= now)
			part->step(part);
	}
	fleet->stepping = false;
	bury(fleet);
}
