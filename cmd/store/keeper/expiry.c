/* SPDX-License-Identifier: ISC */
#include "expiry.h"

uint32_t
expiry_least_grace(uint32_t ttl_s)
{
	/* g >= ttl/3 + notice + 1 s + (ttl + g)/100, in whole seconds */
	uint64_t ttl = ttl_s * SECOND;
	uint64_t least = (ttl / 3 + EXPIRY_NOTICE + SECOND + ttl / 100) * 100 / 99;

	return (uint32_t)((least + SECOND - 1) / SECOND);
}

void
expiry_begin(struct expiry *e, uint32_t ttl_s, uint32_t grace_s, bool warn, uint64_t alive_ns)
{
	uint64_t life = ((uint64_t)ttl_s + grace_s) * SECOND;

	/* The margin is 1 s and 1 %. */
	*e = (struct expiry){ .lasts_ns = life - SECOND - life / 100,
			      .warn = warn,
			      .alive_ns = alive_ns };
}

uint64_t
expiry_deadline(const struct expiry *e)
{
	return e->alive_ns + e->lasts_ns;
}

bool
expiry_renew(struct expiry *e, uint64_t alive_ns)
{
	bool warned = e->warn && e->state == EXPIRY_WARNED && !e->lost;

	if (alive_ns <= e->alive_ns)
		return false;
	e->alive_ns = alive_ns;
	if (!warned)
		return false;
	e->state = EXPIRY_SAFE;
	return true;
}

void
expiry_lose(struct expiry *e, uint64_t now_ns)
{
	e->lost = true;
	if (e->state == EXPIRY_SAFE)
		e->kill_ns = now_ns;
}

uint64_t
expiry_due(const struct expiry *e)
{
	switch (e->state) {
	case EXPIRY_SAFE:
		if (e->lost)
			return e->kill_ns;
		/* People are warned when another taker may really have the permit, not before. */
		return expiry_deadline(e) - (e->warn ? 0 : EXPIRY_NOTICE);
	case EXPIRY_WARNED:
		return e->warn ? EXPIRY_NEVER : e->kill_ns;
	default:
		return EXPIRY_NEVER;
	}
}

enum expiry_deed
expiry_step(struct expiry *e, uint64_t now_ns)
{
	if (now_ns < expiry_due(e))
		return EXPIRY_NOTHING;
	if (e->state == EXPIRY_WARNED) {
		e->state = EXPIRY_OVER;
		return EXPIRY_KILL;
	}
	e->state = EXPIRY_WARNED;
	if (e->warn)
		return EXPIRY_WARN;
	/* Not later than D, however late we are. */
	e->kill_ns = e->lost ? now_ns + EXPIRY_NOTICE : expiry_deadline(e);
	e->lost = true;
	return EXPIRY_TERM;
}
