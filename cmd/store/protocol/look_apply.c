/* SPDX-License-Identifier: ISC */
/*
 * look_apply.c - keeps a look up to date: applies each change that a watch reports.
 */
#include <stdlib.h>
#include <string.h>

#include "look.h"
#include "setting.h"

static bool
apply_config(struct look *l, const struct records_change *c)
{
	struct flk_settings config = flki_no_settings;

	/* The next look refuses a cfg that makes no sense. */
	if (!c->deleted && !config_decode(&config, c->kv.value, c->kv.value_size))
		config.paused = true;
	l->config = config;
	l->config_mod = c->deleted ? 0 : c->kv.changed;
	return true;
}

static bool
apply_starts(struct look *l, const struct records_change *c, char kind)
{
	if (!c->deleted)
		starts_read(&l->starts, kind, &c->kv);
	else if (kind == 'a')
		l->starts = (struct starts){ .rest_ns = l->starts.rest_ns };
	else
		l->starts.rest_ns = 0;
	return true;
}

static void
drop_waiter(struct look *l, const char *self)
{
	struct look_taker *w = look_waiter(l, self);

	if (w == NULL)
		return;
	memmove(w, w + 1, (size_t)(l->waiter + l->waiters - (w + 1)) * sizeof(*w));
	l->waiters--;
	l->in_line -= l->in_line > 0;
}

/* A holder waits no more: the watch has no w/, but what becomes of the waiters that the look has. */
static bool
apply_holder(struct look *l, const struct records_change *c, const char *self)
{
	struct look_taker *h = look_holder(l, self);

	if (c->deleted) {
		if (h == NULL)
			return false;
		*h = l->holder[--l->holders];
		return true;
	}
	drop_waiter(l, self);
	if (h == NULL && (h = look_add_holder(l)) == NULL) {
		/* Without it, the look is older than the permit from now on. */
		l->read = INT64_MAX;
		l->revision = c->kv.changed - 1;
		return false;
	}
	memcpy(h->self, self, STORE_SELF);
	record_decode(&h->record, c->kv.value, c->kv.value_size);
	h->created = c->kv.created;
	h->changed = c->kv.changed;
	return true;
}

static bool
apply_life(struct look *l, const struct records_change *c, const char *name)
{
	struct look_life *life = c->deleted ? look_life(l, name) : look_add_life(l, name);

	if (life == NULL)
		return false;
	if (c->deleted)
		life->leases -= life->leases > 0;
	else if (c->kv.created == c->kv.changed)
		look_show_life(life, &c->kv);
	life->mark = life->marked = 0;
	life->grace = false;
	return true;
}

bool
look_apply(struct look *l, const struct records_change *c)
{
	char self[STORE_SELF], kind;

	/* A watch may have begun before. */
	if (c->kv.changed <= l->read)
		return false;
	l->revision = c->kv.changed;
	kind = key_parse(l->limiter, c->kv.key, self);
	switch (kind) {
	case 'c':
		return apply_config(l, c);
	case 'h':
		return apply_holder(l, c, self);
	case 'l':
		return apply_life(l, c, self);
	case 'a':
	case 'r':
		return apply_starts(l, c, kind);
	case 'o':
		free(l->turns);
		l->turns = c->deleted ? NULL : turns_read(&c->kv);
		return true;
	default:
		return false;
	}
}
