/* SPDX-License-Identifier: ISC */
/*
 * changes.c - what a taker does about a change that a watch reports, by the state that it is in.
 */
#include "taker.h"

#include <string.h>

#include "kind.h"
#include "records/retry.h"

#define WATCH_AGAIN (2 * SECOND)

/* ---- its own permit ---- */

static bool
waits(const struct fleet_taker *t)
{
	return t->state == LOOKING || t->state == BEHIND || t->state == FIRST;
}

/* A taker that reads what has become of its place need not wait for the answer. */
static bool
may_be_granted(const struct fleet_taker *t)
{
	return waits(t) ||
	       (t->state == RECONCILE && t->created != 0 && t->claim_lease == 0 && !t->adopted);
}

/* GRANTING learns of its own grant by its answer, and of others' by its failure. */
static void
own_hears(struct fleet_taker *t, const struct records_change *c)
{
	struct record r;

	if (t->state == HOLDING && c->deleted && c->kv.changed > t->held_since)
		taker_go(t, LOSING);
	else if (may_be_granted(t) && !c->deleted && c->kv.created > t->created &&
		 record_decode(&r, c->kv.value, c->kv.value_size))
		hold_begin(t, c->kv.created, &r);
}

/* ---- in the line ---- */

static bool
is_closing(const struct records_change *c)
{
	struct flk_settings config;

	return !c->deleted && config_decode(&config, c->kv.value, c->kv.value_size) &&
	       config.closed;
}

static void
look_soon(struct fleet_taker *t, uint64_t ns)
{
	uint64_t at = flki_boottime_ns() + retry_spread(ns);

	if (at < t->look_ns)
		t->look_ns = at;
}

/* What it stands behind: it was granted, or has left; then nobody is known to be before this one. */
static void
before_hears(struct fleet_taker *t, char kind)
{
	/* At the end of a store's silence many lives end, and all come again. */
	uint64_t ns = t->fleet->store->ttl_s * SECOND / 4;

	if (kind == 'w') {
		t->before[0] = '\0';
		ns = line_is_alone(t) ? 0 : SECOND;
	}
	look_soon(t, ns);
}

/*
 * Its place is gone: a taker has granted it, and the news of its permit come with this, or after it, as they
 * are of another watch.  Otherwise it was evicted, or taken back, and a look says so.
 */
static void
place_hears(struct fleet_taker *t, const struct records_change *c)
{
	if (c->deleted && c->kv.changed > t->created)
		look_soon(t, SECOND / 20);
}

static void
behind_hears(struct fleet_taker *t, char kind, const char *self, const struct records_change *c)
{
	if (kind == 'c')
		look_apply(&t->look, c);
	if (kind == 'c' && is_closing(c))
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	else if (kind == 'c' && t->before[0] == '\0')
		taker_go(t, LOOKING);
	else if (kind == 'w' && strcmp(self, t->self) == 0)
		place_hears(t, c);
	else if (c->deleted && ((kind == 'w' && strcmp(self, t->before) == 0) ||
				(kind == 'l' && strcmp(self, t->before_life) == 0)))
		before_hears(t, kind);
}

static void
first_hears(struct fleet_taker *t, char kind, const char *self, const struct records_change *c)
{
	if (kind == 'w') {
		/* GRANTING deletes w/ itself, and learns the result from its own answer. */
		if (t->state == FIRST && strcmp(self, t->self) == 0)
			place_hears(t, c);
		return;
	}
	/* All changes of a revision come before it decides. */
	if (look_apply(&t->look, c) && t->state == FIRST)
		t->retry_ns = 0;
}

/* ---- all ---- */

static void
change(struct fleet_taker *t, enum taker_watch what, const struct records_change *c)
{
	char self[STORE_SELF];
	char kind = key_parse(&t->fleet->limiter, c->kv.key, self);

	if (what == WATCH_OWN)
		own_hears(t, c);
	else if (what == WATCH_LINE && t->state == BEHIND)
		behind_hears(t, kind, self, c);
	else if (t->state == LOOKING && c->kv.changed > t->heard)
		t->heard = c->kv.changed;
	else if (what == WATCH_ALL && (t->state == FIRST || t->state == GRANTING))
		first_hears(t, kind, self, c);
}

/* The watch has ended: what the taker knew may be out of date by now. */
static void
ended(struct fleet_taker *t, enum taker_watch what, bool at_once)
{
	t->watching[what].ended = true;
	if (what == WATCH_OWN && t->state == HOLDING) {
		t->retry_ns = flki_boottime_ns() + (at_once ? 0 : WATCH_AGAIN);
		life_beat(&t->fleet->life);
	} else if (waits(t)) {
		watching_end(t, what);
		taker_hush(t, MAIN);
		taker_move(t, RECONCILE);
		t->retry_ns = flki_boottime_ns() + (at_once ? 0 : WATCH_AGAIN);
	}
}

/* It must have begun before what it is to report. */
static void
begun(struct fleet_taker *t, enum taker_watch what, int64_t revision)
{
	struct taker_watching *w = &t->watching[what];
	bool is_first = w->from == 0;

	if (is_first && revision == 0) { /* an engine that does not say from where on */
		ended(t, what, true);
		return;
	}
	if (is_first)
		w->from = revision;
	if (what == WATCH_ALL && t->state == LOOKING)
		taker_act(t);
	else if (what == WATCH_OWN && is_first && waits(t) && revision > t->created + 1)
		taker_go(t, RECONCILE);
	else if (what == WATCH_OWN && is_first && t->state == HOLDING)
		life_beat(&t->fleet->life);
}

void
changes_hear(void *context, const struct records_news *news)
{
	struct taker_watching *w = context;
	struct fleet_taker *t = w->taker;
	enum taker_watch what = (enum taker_watch)(w - t->watching);

	switch (news->kind) {
	case WATCH_BEGUN:
		begun(t, what, news->revision);
		break;
	case WATCH_CHANGE:
		change(t, what, news->change);
		break;
	case WATCH_COMPACTED:
		ended(t, what, true);
		break;
	case WATCH_FAILED:
		ended(t, what, false);
		break;
	}
}
