/* SPDX-License-Identifier: ISC */
/*
 * engine.c - the engine for etcd: opening it, and its one loop.
 */
#include "inside.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "etcd/taker/taker.h"
#include "kind.h"

#define MIN_TIMEOUT_MS 500

/* ---- open and close ---- */

int
engine_open(struct engine **engine, const struct engine_options *o, char why[ENGINE_TEXT])
{
	struct engine *e = calloc(1, sizeof(*e));
	unsigned timeout_ms = o->ttl_s < 60 ? o->ttl_s * 1000 / 6 : 10000;
	int error;

	*engine = NULL;
	if (e == NULL) {
		snprintf(why, ENGINE_TEXT, "out of memory");
		return -FLK_STORE;
	}
	if (strlen(o->url->path) > KEY_PATH_MAX) {
		snprintf(why, ENGINE_TEXT, "its path is longer than %d bytes", KEY_PATH_MAX);
		free(e);
		return -FLK_STORE;
	}
	LIST_INIT(&e->takers);
	LIST_INIT(&e->freed);
	LIST_INIT(&e->parts);
	e->named = o->limiter != NULL;
	e->base = key_base(o->url);
	e->limiter = key_limiter(o->url, e->named ? o->limiter : "");
	e->ttl_s = o->ttl_s;
	e->grace_s = o->grace_s;
	e->manual = o->manual;
	e->timeout_ms = timeout_ms > MIN_TIMEOUT_MS ? timeout_ms : MIN_TIMEOUT_MS;
	record_host(e->host);
	/* A holder whose store has moved must find it before its ttl is over: so it looks that often. */
	if ((error = etcd_new(&e->etcd, o->url, e->timeout_ms, why, ENGINE_TEXT)) != 0) {
		free(e);
		return error;
	}
	*engine = e;
	return 0;
}

static void
bury(struct engine *e)
{
	struct engine_taker *t;

	while ((t = LIST_FIRST(&e->freed)) != NULL) {
		LIST_REMOVE(t, link);
		free(t);
	}
}

void
engine_close(struct engine *e)
{
	struct engine_part *part;

	if (e == NULL)
		return;
	while (!LIST_EMPTY(&e->takers))
		engine_taker_free(LIST_FIRST(&e->takers));
	while ((part = LIST_FIRST(&e->parts)) != NULL) {
		LIST_REMOVE(part, link);
		part->end(part);
	}
	bury(e);
	etcd_free(e->etcd);
	free(e);
}

/* ---- the loop ---- */

int
engine_fd(const struct engine *e)
{
	return etcd_fd(e->etcd);
}

static uint64_t
earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t
engine_due(const struct engine *e)
{
	uint64_t due = etcd_due(e->etcd);
	const struct engine_taker *t;
	const struct engine_part *part;

	LIST_FOREACH(t, &e->takers, link)
		due = earlier(due, taker_due(t));
	LIST_FOREACH(part, &e->parts, link)
		due = earlier(due, part->due_ns);
	return due;
}

/*
 * Events from the store come first: a keeper that was stopped for a while must not decide by what
 * it knew before.
 */
void
engine_step(struct engine *e)
{
	struct engine_taker *t, *next;
	struct engine_part *part, *next_part;
	uint64_t now;

	e->stepping = true;
	etcd_step(e->etcd);
	now = flki_boottime_ns();
	for (t = LIST_FIRST(&e->takers); t != NULL; t = next) {
		if (taker_due(t) <= now)
			taker_step(t, now);
		/* If that freed the taker, it is in the other list. */
		next = t->freed ? LIST_FIRST(&e->takers) : LIST_NEXT(t, link);
	}
	for (part = LIST_FIRST(&e->parts); part != NULL; part = next_part) {
		next_part = LIST_NEXT(part, link);
		if (part->due_ns <= now)
			part->step(part);
	}
	e->stepping = false;
	bury(e);
}
