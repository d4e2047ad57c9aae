/* SPDX-License-Identifier: ISC */
/*
 * look_apply.c - keeps a look up to date: applies each change that a watch reports.
 */
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
apply_holder(struct look *l, const struct records_change *c, const char *self)
{
	struct look_holder *h = look_find(l, self);

	if (c->deleted) {
		if (h == NULL)
			return false;
		*h = l->holder[--l->holders];
		return true;
	}
	if (h == NULL && (h = look_add(l)) == NULL)
		return false;
	memcpy(h->self, self, STORE_SELF);
	record_decode(&h->record, c->kv.value, c->kv.value_size);
	h->created = c->kv.created;
	h->mod = c->kv.changed;
	return true;
}

static bool
apply_alive(struct look *l, const struct records_change *c, const char *self)
{
	struct look_holder *h = look_find(l, self);

	if (h == NULL || h->alive == !c->deleted)
		return false;
	h->alive = !c->deleted;
	h->lease = c->deleted ? 0 : c->kv.lease;
	h->seen = h->marked = 0;
	h->ripe_ns = 0;
	h->over = false;
	return true;
}

bool
look_apply(struct look *l, const struct records_change *c)
{
	char self[STORE_SELF];

	/* One revision may have several changes, which come one by one: "<", not "<=". */
	if (c->kv.changed < l->revision)
		return false;
	l->revision = c->kv.changed;
	switch (key_parse(&l->limiter, c->kv.key, self)) {
	case 'c':
		return apply_config(l, c);
	case 'h':
		return apply_holder(l, c, self);
	case 'l':
		return apply_alive(l, c, self);
	default:
		return false;
	}
}
