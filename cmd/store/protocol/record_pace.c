/* SPDX-License-Identifier: ISC */
/*
 * record_pace.c - a pace, as a member of cfg and of m/: its members are those of struct flk_pace.
 */
#include "record_json.h"

#define MOST_INTERVAL (INT64_MAX >> 15) /* as in lib/pace.c */

static const struct member {
	const char *name;
	size_t at, width;
	int64_t most;
} members[] = {
#define MEMBER(name, most)                                                                         \
	{                                                                                          \
#name, offsetof(struct flk_pace, name), sizeof(((struct flk_pace *)0)->name), most \
	}
	MEMBER(interval_ns, MOST_INTERVAL), MEMBER(burst, UINT16_MAX),
	MEMBER(stagger_ns, INT64_MAX),      MEMBER(ramp_from, UINT16_MAX),
	MEMBER(ramp_step, UINT16_MAX),      MEMBER(ramp_period_ns, UINT32_MAX *INT64_C(1000000)),
	MEMBER(ramp_idle_ns, INT64_MAX),
};

#define EACH(m)                                               \
	(m) = members;                                        \
	(m) < members + sizeof(members) / sizeof(members[0]); \
	(m)++

json_t *
json_of_pace(const struct flk_pace *p)
{
	json_t *o = json_object();
	const struct member *m;

	for (EACH(m)) {
		const void *at = (const char *)p + m->at;
		json_put_number(o, m->name,
				m->width == sizeof(uint32_t) ? *(const uint32_t *)at
							     : *(const int64_t *)at);
	}
	return o;
}

void
json_read_pace(struct flk_pace *p, const json_t *o, bool *good)
{
	const struct member *m;

	for (EACH(m)) {
		void *at = (char *)p + m->at;
		int64_t n = json_number(o, m->name, 0, m->most, good);

		if (m->width == sizeof(uint32_t))
			*(uint32_t *)at = (uint32_t)n;
		else
			*(int64_t *)at = n;
	}
}
