/* SPDX-License-Identifier: ISC */
/*
 * truth.c - the line and the holders, as the store's records say.  No other file but errors.c and
 * faults.c knows what a key is.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "protocol/record.h"
#include "sim.h"
#include "truth.h"

/* ---- keys ---- */

char
key_kind(const char *key)
{
	const char *parts = strstr(key, "//");

	if (parts == NULL)
		return CONFIG;
	if (strcmp(parts + 2, "tail") == 0)
		return TAIL;
	if (strcmp(parts + 2, "at-rest") == 0)
		return REST;
	if (strcmp(parts + 2, "around") == 0)
		return AROUND;
	if (strcmp(parts + 2, "batch") == 0)
		return BATCH;
	return parts[2];
}

static unsigned long
number_of(const char *key)
{
	const char *self = strrchr(key, '/') + 1;

	return strlen(self) == 16 ? strtoul(self + 10, NULL, 16) : ULONG_MAX;
}

/* The taker that has that name, or had it before; NULL: none. */
static struct taker *
taker_of(const char *key)
{
	unsigned long number = number_of(key);

	return number < sim.takers ? &sim.taker[number] : NULL;
}

/* l/LIFE/LEASE */
static void
life_changes(const struct memory_record *r)
{
	char life[STORE_SELF + 1] = "/";
	struct machine *m;
	unsigned long number;

	snprintf(life + 1, STORE_SELF, "%s", strstr(r->kv.key, "//l/") + 4);
	if ((number = number_of(life)) >= sim.machines)
		return;
	m = &sim.machine[number];
	if (r->deleted)
		m->leases--;
	else if (r->kv.created == r->kv.changed)
		m->leases++;
	if (m->leases == 0) {
		m->gone_ns = true_ns;
	} else if (m->gone_ns != 0) {
		m->gone_ns = 0;
		m->back_ns = true_ns;
	}
}

static bool
is_named(const struct taker *t, const char *key)
{
	return strcmp(strrchr(key, '/') + 1, t->self) == 0;
}

/* ---- the line, and the holders ---- */

static void
enters_line(struct taker *t, int64_t ticket)
{
	t->place = ticket;
	t->placed_ns = true_ns;
	if (TAILQ_EMPTY(&sim.line))
		sim.head_ns = true_ns;
	TAILQ_INSERT_TAIL(&sim.line, t, in_line);
}

static void
leaves_line(struct taker *t, int64_t revision)
{
	t->left_line = t->place;
	t->left_at = revision;
	t->place = 0;
	t->first_ns = true_ns;
	if (t == TAILQ_FIRST(&sim.line)) {
		t->first_ns = sim.head_ns;
		sim.head_ns = true_ns;
	}
	TAILQ_REMOVE(&sim.line, t, in_line);
}

static void
begins_to_hold(struct taker *t, const struct record_kv *kv)
{
	t->permit = t->place != 0               ? t->place
		    : t->left_at == kv->created ? t->left_line
						: kv->created;
	t->granted = t->permit;
	t->granted_ns = true_ns;
	t->override = sim.unsure ? FLK_AUTO : sim.override;
	sim.used += t->want.weight;
	sim.holder[sim.holders++] = t;
}

static void
ends_to_hold(struct taker *t, int64_t revision)
{
	unsigned i;

	law_unheld(t);
	memories_end(t, revision);
	t->permit = 0;
	sim.used -= t->want.weight;
	for (i = 0; sim.holder[i] != t; i++)
		;
	sim.holder[i] = sim.holder[--sim.holders];
}

/* Whether the change is a grant, or the end of a place. */
static bool
apply(struct taker *t, const struct memory_record *r, char kind)
{
	bool new = !r->deleted && r->kv.created == r->kv.changed;

	if (!is_named(t, r->kv.key) || t->stage == ENDED) {
		if (new && (kind == PLACE || kind == PERMIT))
			law_ghost(t, r->kv.key);
		if (!is_named(t, r->kv.key))
			return false;
	}
	if (new && (kind == PLACE || kind == PERMIT))
		record_decode(&t->said, r->kv.value, r->kv.value_size);
	if (kind == PLACE && new)
		enters_line(t, r->kv.created);
	else if (kind == PERMIT && new)
		begins_to_hold(t, &r->kv);
	else if (kind == PERMIT && r->deleted && t->permit != 0)
		ends_to_hold(t, r->kv.changed);
	else if (kind == PLACE && r->deleted && t->place != 0)
		leaves_line(t, r->kv.changed);
	else
		return false;
	return true;
}

/* ---- idle units ---- */

const struct taker *
truth_next(void)
{
	return sim.plan.keys > 0 ? turns_next() : TAILQ_FIRST(&sim.line);
}

static bool
next_fits(void)
{
	const struct taker *head = truth_next();
	uint64_t most;
	unsigned i;

	if (head == NULL || head->want.limit == 0 || sim.steered ||
	    (sim.plan.which & FLK_SET_PACE) != 0)
		return false;
	most = head->want.limit;
	for (i = 0; i < sim.holders; i++) {
		if (sim.holder[i]->want.limit == 0)
			return false;
		if (sim.holder[i]->want.limit < most)
			most = sim.holder[i]->want.limit;
	}
	return sim.holders == 0 || sim.used + head->want.weight <= most;
}

/* ---- what has changed ---- */

#define AT_ONCE 512

static void
show(const struct memory_record *r)
{
	trace("  @%lld %s %s", (long long)r->kv.changed, r->deleted ? "deletes" : "puts",
	      strrchr(r->kv.key, '/') - 1);
}

void
truth_changes(void *context, size_t first)
{
	static struct taker *granted[AT_ONCE], *unplaced[AT_ONCE];
	size_t grants = 0, losses = 0, i;
	const struct memory_record *r;
	bool moved = false;

	(void)context;
	for (i = first; (r = memory_change(world_memory(), i)) != NULL; i++) {
		char kind = key_kind(r->kv.key);
		struct taker *t = kind == PLACE || kind == PERMIT ? taker_of(r->kv.key) : NULL;

		if (sim.tracing)
			show(r);
		if (kind == LIFE)
			life_changes(r);
		memories_change(r, kind);
		starts_change(r, kind);
		turns_change(r, kind);
		if (t == NULL || !apply(t, r, kind))
			continue;
		moved = true;
		if (kind == PERMIT && !r->deleted && grants < AT_ONCE)
			granted[grants++] = t;
		if (kind == PLACE && r->deleted && losses < AT_ONCE)
			unplaced[losses++] = t;
	}
	memories_check();
	starts_check(grants);
	turns_check(granted, grants);
	if (moved)
		sim.idle_ns = next_fits() ? true_ns : 0;
	if (grants > 0)
		law_committed(granted, grants);
	for (i = 0; i < losses; i++)
		if (unplaced[i]->place == 0 && unplaced[i]->permit == 0)
			law_unplaced(unplaced[i]);
}

bool
truth_is_empty(void)
{
	const struct memory *m = world_memory();
	const struct memory_record *r;
	size_t i;
	bool empty = memory_leases(m) == 0;

	for (i = 0; (r = memory_at(m, i)) != NULL; i++) {
		char kind = key_kind(r->kv.key);

		if (strchr("acmnor", kind) != NULL) /* what stays of a limiter */
			continue;
		trace("left behind: %s", r->kv.key);
		empty = false;
	}
	return empty;
}
