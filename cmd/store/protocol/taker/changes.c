/* SPDX-License-Identifier: ISC */
/*
 * changes.c - what a taker does about a change that a watch reports, by the state that it is in.
 */
#include "taker.h"

#include <string.h>

#include "kind.h"

#define WATCH_AGAIN (2 * SECOND)

/* ---- in the line ---- */

static bool
is_closing(const struct records_change *c)
{
	struct flk_settings config;

	return !c->deleted && config_decode(&config, c->kv.value, c->kv.value_size) &&
	       config.closed;
}

static void
behind_hears(struct fleet_taker *t, char kind, const char *self, const struct records_change *c)
{
	if (kind == 'c' && is_closing(c))
		leave_begin(t, FLEET_REFUSED, -FLK_CLOSED);
	else if (kind != 'w' || !c->deleted)
		return;
	else if (strcmp(self, t->before) == 0)
		line_moves(t);
	else if (strcmp(self, t->self) == 0 && c->kv.changed > t->created)
		taker_go(t, RECONCILE);
}

static void
first_hears(struct fleet_taker *t, char kind, const char *self, const struct records_change *c)
{
	if (kind == 'w') {
		/* GRANTING deletes w/ itself, and learns the result from its own answer. */
		if (t->state == FIRST && c->deleted && strcmp(self, t->self) == 0 &&
		    c->kv.changed > t->created)
			taker_go(t, RECONCILE);
		return;
	}
	/* BEHIND's watch, still open, reports less than a look needs. */
	if (t->watching == WATCH_FIRST && look_apply(&t->look, c) && t->state == FIRST)
		taker_act(t);
}

/* ---- with a permit ---- */

static void
held_hears(struct fleet_taker *t, char kind, const struct records_change *c)
{
	if (!c->deleted)
		return;
	if (kind == 'h' && c->kv.changed > t->held_since) {
		taker_go(t, LOSING);
	} else if (kind == 'l' && c->kv.changed > t->attached) {
		t->l_gone = c->kv.changed;
		if (t->state == HOLDING)
			hold_asked(t);
	}
}

/* ---- all ---- */

static void
change(struct fleet_taker *t, const struct records_change *c)
{
	char self[STORE_SELF];
	char kind = key_parse(&t->fleet->limiter, c->kv.key, self);

	switch (t->state) {
	case LOOKING:
		t->heard = c->kv.changed;
		break;
	case BEHIND:
		behind_hears(t, kind, self, c);
		break;
	case FIRST:
	case GRANTING:
		first_hears(t, kind, self, c);
		break;
	case HOLDING:
	case ATTACHING:
		held_hears(t, kind, c);
		break;
	default: /* the answer that the taker waits for there says more */
		break;
	}
}

/* The watch has ended: what the taker knew may be out of date by now. */
static void
ended(struct fleet_taker *t, bool at_once)
{
	taker_unwatch(t);
	switch (t->state) {
	case BEHIND:
	case FIRST:
		taker_move(t, LOOKING);
		t->retry_ns = flki_boottime_ns() + (at_once ? 0 : WATCH_AGAIN);
		break;
	case LOOKING:
		t->heard = INT64_MAX; /* look once more */
		break;
	case HOLDING:
		/* The next renewal reads h/ and l/, and watches again. */
		if (at_once)
			hold_beat(t);
		break;
	default: /* GRANTING looks if it fails; the other states watch when they settle */
		break;
	}
}

/*
 * The look by which FIRST decides must be no older than the first change that its watch reports.  A
 * range of the watch that began before the others may have reported changes already: they say nothing
 * of what came between the look and its beginning.
 */
static void
begun(struct fleet_taker *t, int64_t revision)
{
	if (t->watching != WATCH_FIRST)
		return;
	if (t->state == LOOKING && revision - 1 > t->heard)
		t->heard = revision - 1;
	else if (t->state == FIRST && revision > t->look.read + 1)
		taker_go(t, LOOKING);
}

void
changes_hear(void *context, const struct records_news *news)
{
	struct fleet_taker *t = context;

	switch (news->kind) {
	case WATCH_BEGUN:
		begun(t, news->revision);
		break;
	case WATCH_CHANGE:
		change(t, news->change);
		break;
	case WATCH_COMPACTED:
		ended(t, true);
		break;
	case WATCH_FAILED:
		ended(t, false);
		break;
	}
}
