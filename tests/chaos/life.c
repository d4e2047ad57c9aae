/* SPDX-License-Identifier: ISC */
#include "life.h"

bool
life_may_be(const struct life *l, enum verb verb, int64_t value, uint64_t from, uint64_t to)
{
	int64_t now = verb == OVERRIDE ? -1 : 0;
	uint64_t since = 0;

	foreach(const struct steer, g, l->steers) {
		if (g->verb != verb)
			continue;
		if (now == value && since <= to && g->until >= from)
			return true;
		now = g->value;
		since = g->since;
	}
	return now == value && since <= to;
}

/* Its own limit, if it is known: one without -n was told it, unless that was an override. */
static uint64_t
declared(const struct life *l, const struct run *r)
{
	if (r->n != 0)
		return r->n;
	return life_may_be(l, OVERRIDE, (int64_t)r->told, r->granted_from, r->started) ? NEVER
										       : r->told;
}

void
life_count(const struct life *l, struct sum *sum, const struct run *r)
{
	uint64_t own = declared(l, r);

	sum->weight += r->w;
	sum->runs++;
	if (own < sum->limit)
		sum->limit = own;
}

uint64_t
life_bound(const struct life *l, const struct run *z, const struct sum *sum)
{
	bool overridden = life_may_be(l, OVERRIDE, (int64_t)z->told, z->granted_from, z->started);
	bool own = (z->n == 0 || z->n == z->told) &&
		   life_may_be(l, OVERRIDE, -1, z->granted_from, z->started);

	if (overridden && sum->runs == 1)
		return NEVER;
	return overridden ? z->told : own ? sum->limit : 0;
}

struct sum
life_up_to(const struct life *l, size_t z, uint64_t t)
{
	struct sum sum = { .limit = NEVER };
	size_t i;

	for (i = z + 1; i-- > 0 && l->last[i] >= t;)
		if (l->run[i]->surely >= t)
			life_count(l, &sum, l->run[i]);
	return sum;
}
