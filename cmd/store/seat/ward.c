#include "ward.h"

#define SECOND UINT64_C(1000000000)
#define NOTICE (2 * SECOND) /* from TERM to KILL */

static uint64_t
margin(uint64_t life)
{
	return SECOND + life / 100;
}

uint32_t
ward_least_grace(uint32_t ttl_s)
{
	/* g >= ttl/3 + notice + 1 s + (ttl + g)/100, in whole seconds */
	uint64_t ttl = ttl_s * SECOND;
	uint64_t least = (ttl / 3 + NOTICE + SECOND + ttl / 100) * 100 / 99;

	return (uint32_t)((least + SECOND - 1) / SECOND);
}

void
ward_begin(struct ward *w, uint32_t ttl_s, uint32_t grace_s, bool warn, uint64_t alive_ns)
{
	uint64_t life = ((uint64_t)ttl_s + grace_s) * SECOND;

	*w = (struct ward){ .life_ns = life,
			    .margin_ns = margin(life),
			    .notice_ns = NOTICE,
			    .warn = warn,
			    .alive_ns = alive_ns };
}

uint64_t
ward_deadline(const struct ward *w)
{
	return w->alive_ns + w->life_ns - w->margin_ns;
}

bool
ward_renew(struct ward *w, uint64_t alive_ns)
{
	bool told = w->warn && w->stage == WARD_TOLD && !w->lost;

	if (alive_ns <= w->alive_ns)
		return false;
	w->alive_ns = alive_ns;
	if (!told)
		return false;
	w->stage = WARD_SAFE;
	return true;
}

void
ward_lose(struct ward *w, uint64_t now_ns)
{
	w->lost = true;
	if (w->stage == WARD_SAFE)
		w->kill_ns = now_ns;
}

uint64_t
ward_due(const struct ward *w)
{
	switch (w->stage) {
	case WARD_SAFE:
		if (w->lost)
			return w->kill_ns;
		/* Its people are told when it may really be another's, not before. */
		return ward_deadline(w) - (w->warn ? 0 : w->notice_ns);
	case WARD_TOLD:
		return w->warn ? WARD_NEVER : w->kill_ns;
	default:
		return WARD_NEVER;
	}
}

enum ward_deed
ward_step(struct ward *w, uint64_t now_ns)
{
	if (now_ns < ward_due(w))
		return WARD_NOTHING;
	if (w->stage == WARD_TOLD) {
		w->stage = WARD_OVER;
		return WARD_KILL;
	}
	w->stage = WARD_TOLD;
	if (w->warn)
		return WARD_TELL;
	/* Not later than D, however late we are. */
	w->kill_ns = w->lost ? now_ns + w->notice_ns : ward_deadline(w);
	w->lost = true;
	return WARD_TERM;
}
