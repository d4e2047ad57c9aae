/* SPDX-License-Identifier: ISC */
#include "give.h"

/* What an operator has taken from all holders by a lower limit. */
static uint64_t
owed(const struct flk_snapshot *s)
{
	uint64_t taken = s->used + s->set.withheld;

	return s->set.override >= 0 && taken > s->limit ? taken - s->limit : 0;
}

/*
 * Whether the head could start if we gave all that we may, and each other holder all but a unit.  It can't
 * before it is its time, or where it asks for more than will be free.
 */
static bool
could_start(const struct flk_snapshot *s, uint32_t least, uint64_t now)
{
	const struct flk_entry *head = &s->entry[s->holders];
	uint64_t kept = s->set.withheld + least + s->holders - 1;

	return !s->set.paused && s->next_start_ns <= now && kept + head->weight <= s->limit;
}

uint64_t
give_wanted(const struct flk_snapshot *s, uint32_t least, uint64_t now)
{
	uint64_t want = 0, taken = s->used + s->set.withheld;
	uint64_t spare = s->limit > taken ? s->limit - taken : 0;
	uint32_t i;

	if (s->waiters == 0 || !could_start(s, least, now))
		return owed(s);
	for (i = 0; i < s->waiters; i++)
		want += s->entry[s->holders + i].weight;
	return want > spare ? want - spare + owed(s) : owed(s);
}
