/* SPDX-License-Identifier: ISC */
/*
 * view.c - the rule by which a permit is granted, applied to a limiter as it stood at one moment.
 * It is the same rule as that of a limiter on one machine.
 *
 * A limit is a promise to the taker that declared it.  The head becomes a holder if the sum of all
 * weights then stays within its own limit and within the limit of every holder; or, instead of all
 * these, within the operator's override.  A weight above the limit counts as the whole limit: such
 * a holder runs alone, and so can't keep up the line for ever.  A holder counts with its weight
 * also under an override that was set below that weight afterwards: no other taker gets a permit
 * beside it then.
 */
#include "view.h"

#include <string.h>

#include "now.h"

uint64_t
view_used(const struct view *v)
{
	uint64_t used = 0;
	size_t i;

	for (i = 0; i < v->holders; i++)
		used += v->entry[i].weight;
	return used;
}

/* 0 stands for "none", on both sides. */
static uint32_t
smaller(uint32_t a, uint32_t b)
{
	return a == 0 || (b != 0 && b < a) ? b : a;
}

static uint32_t
said_limit(const struct view *v, uint32_t limit)
{
	size_t i;

	if (v->set.override >= 0)
		return v->set.override < FLK_MAX_UNITS ? (uint32_t)v->set.override : FLK_MAX_UNITS;
	for (i = 0; i < v->holders; i++)
		limit = smaller(limit, v->entry[i].limit);
	return limit;
}

uint32_t
view_limit(const struct view *v)
{
	uint32_t head = v->waiters > 0 ? v->entry[v->holders].limit : 0;
	uint32_t limit = said_limit(v, head);

	return limit == 0 && v->set.override < 0 ? v->set.declared : limit;
}

bool
view_fits(const struct view *v, uint32_t weight, uint32_t limit, uint32_t *under)
{
	uint32_t own = limit != 0 ? limit : v->set.declared != 0 ? v->set.declared : 1;
	uint32_t most = said_limit(v, own);

	*under = v->set.override >= 0 ? most : own;
	if (v->set.paused || v->set.closed || most == 0)
		return false;
	return v->holders == 0 || view_used(v) + weight <= most;
}

uint32_t
view_seat(const struct view *v)
{
	uint32_t seat;
	size_t i;

	/* One of the first holders + 1 seats is free; we seldom have to skip a seat. */
	for (seat = 0; seat <= v->holders; seat++) {
		for (i = 0; i < v->holders && v->entry[i].seat != seat; i++)
			;
		if (i == v->holders)
			break;
	}
	return seat;
}

struct flk_entry
view_show(const struct view_entry *v)
{
	struct flk_entry e = { .ticket = v->ticket,
			       .weight = v->weight,
			       .limit = v->limit,
			       .seat = v->seat,
			       .pid = (pid_t)v->pid,
			       .uid = v->uid,
			       .since_ns = when_was(v->since_ms),
			       .holds = v->holds,
			       .silent = v->suspect,
			       .role = v->role };

	memcpy(e.command, v->command, sizeof(e.command));
	return e;
}
