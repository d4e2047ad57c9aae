/* SPDX-License-Identifier: ISC */
/*
 * fleet.c - an open store and its limiters: opening and closing them, and the one loop of all.
 */
#include "inside.h"
#include "machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/taker/taker.h"
#include "kind.h"
#include "now.h"

#define MIN_TIMEOUT_MS 500

_Static_assert(FLEET_TEXT == RECORDS_TEXT, "what records_open() says is passed on");

/* ---- open and close ---- */

int
fleet_store_open(struct fleet_store **to, const struct fleet_options *o, char why[FLEET_TEXT])
{
	struct fleet_store *store = calloc(1, sizeof(*store));
	unsigned timeout_ms = o->ttl_s < 60 ? o->ttl_s * 1000 / 6 : 10000;
	int error;

	*to = NULL;
	if (store == NULL) {
		snprintf(why, FLEET_TEXT, "out of memory");
		return -FLK_STORE;
	}
	if (strlen(o->url->path) > KEY_PATH_MAX) {
		snprintf(why, FLEET_TEXT, "its path is longer than %d bytes", KEY_PATH_MAX);
		free(store);
		return -FLK_STORE;
	}
	TAILQ_INIT(&store->queue);
	store->most_calls = fleet_calls;
	store->base = key_base(o->url);
	store->ttl_s = o->ttl_s;
	store->grace_s = o->grace_s;
	store->manual = o->manual;
	store->heir = o->heir;
	if (o->life != NULL)
		memcpy(store->life, o->life, STORE_SELF);
	machine_name(store->host);
	/* A holder whose store has moved must find it before its ttl is over: so it looks that often. */
	store->timeout_ms = timeout_ms > MIN_TIMEOUT_MS ? timeout_ms : MIN_TIMEOUT_MS;
	if ((error = records_open(&store->records, o->url, store->timeout_ms, why)) != 0) {
		free(store);
		return error;
	}
	*to = store;
	return 0;
}

void
fleet_store_close(struct fleet_store *store)
{
	if (store == NULL)
		return;
	while (!LIST_EMPTY(&store->fleets))
		fleet_close(LIST_FIRST(&store->fleets));
	records_close(store->records);
	free(store);
}

struct fleet *
fleet_open(struct fleet_store *store, const char *limiter)
{
	struct fleet *fleet = calloc(1, sizeof(*fleet));

	if (fleet == NULL)
		return NULL;
	fleet->store = store;
	if (limiter != NULL)
		fleet->limiter = key_limiter(&store->base, limiter);
	look_init(&fleet->seen.look, &fleet->limiter);
	life_begin(&fleet->life, fleet);
	LIST_INSERT_HEAD(&store->fleets, fleet, link);
	return fleet;
}

/* Each call and watch is a taker's, the life's or a part's. */
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
	LIST_REMOVE(fleet, link);
	look_free(&fleet->seen.look);
	free(fleet);
}

/* ---- the loop ---- */

int
fleet_store_fd(const struct fleet_store *store)
{
	return records_fd(store->records);
}

static uint64_t
fleet_due(const struct fleet *fleet)
{
	uint64_t due = fleet->life.due_ns;
	const struct fleet_taker *t;
	const struct fleet_part *part;

	LIST_FOREACH(t, &fleet->takers, link)
		due = earlier(due, taker_due(t));
	LIST_FOREACH(part, &fleet->parts, link)
		due = earlier(due, part->due_ns);
	return due;
}

uint64_t
fleet_store_due(const struct fleet_store *store)
{
	uint64_t due = fleet_has_next(store) ? 0 : records_due(store->records);
	const struct fleet *fleet;

	LIST_FOREACH(fleet, &store->fleets, link)
		due = earlier(due, fleet_due(fleet));
	return due;
}

static void
fleet_step(struct fleet *fleet, uint64_t now)
{
	struct fleet_taker *t, *next;
	struct fleet_part *part, *next_part;

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
}

/*
 * Events from the store come first: a keeper that was stopped for a while must not decide by what
 * it knew before.
 */
void
fleet_store_step(struct fleet_store *store)
{
	struct fleet_taker *t;
	struct fleet *fleet;
	uint64_t now;

	store->stepping = true;
	records_step(store->records);
	now = flki_boottime_ns();
	LIST_FOREACH(fleet, &store->fleets, link)
		fleet_step(fleet, now);
	fleet_call_next(store);
	store->stepping = false;
	while ((t = LIST_FIRST(&store->freed)) != NULL) {
		LIST_REMOVE(t, link);
		free(t);
	}
}
