/* SPDX-License-Identifier: ISC */
#include "setting.h"

#include "layout.h"

#define AT(member)   offsetof(struct flk_settings, member)
#define WORD(member) offsetof(struct header, member), sizeof(((struct header *)0)->member)

const struct flki_number flki_numbers[FLKI_NUMBERS] = {
	{ FLK_SET_DECLARED, "declared", FLKI_COUNT, AT(declared), WORD(declared), 1, FLK_MAX_UNITS,
	  0, FLK_EV_DECLARED, FLK_EV_DECLARED, NULL },
	{ FLK_SET_OVERRIDE, "override", FLKI_LIMIT, AT(override), WORD(override), 0, FLK_MAX_UNITS,
	  FLK_AUTO, FLK_EV_OVERRIDE, FLK_EV_OVERRIDE, ".all-limit" },
	{ FLK_SET_PAUSED, "paused", FLKI_SWITCH, AT(paused), WORD(paused), 0, 1, 0, FLK_EV_PAUSED,
	  FLK_EV_RESUMED, ".all-paused" },
	{ FLK_SET_CLOSED, "closed", FLKI_SWITCH, AT(closed), WORD(closed), 0, 1, 0, FLK_EV_CLOSED,
	  FLK_EV_OPENED, ".all-closed" },
};

int64_t
flki_number_get(const struct flki_number *n, const struct flk_settings *from)
{
	const void *at = (const char *)from + n->at;

	return n->kind == FLKI_SWITCH  ? *(const bool *)at
	       : n->kind == FLKI_COUNT ? *(const uint32_t *)at
				       : *(const int64_t *)at;
}

void
flki_number_put(const struct flki_number *n, struct flk_settings *to, int64_t value)
{
	void *at = (char *)to + n->at;

	if (n->kind == FLKI_SWITCH)
		*(bool *)at = value != 0;
	else if (n->kind == FLKI_COUNT)
		*(uint32_t *)at = (uint32_t)value;
	else
		*(int64_t *)at = value;
}

bool
flki_number_is_good(const struct flki_number *n, int64_t value)
{
	return (value >= n->least && value <= n->most) ||
	       (n->kind == FLKI_LIMIT && value == FLK_AUTO);
}

void
flki_settings_set(struct flk_settings *s, unsigned which, const struct flk_settings *to)
{
	const struct flki_number *n;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if ((which & n->which) != 0)
			flki_number_put(n, s, flki_number_get(n, to));
}

bool
flki_settings_same(const struct flk_settings *a, const struct flk_settings *b)
{
	const struct flki_number *n;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if (flki_number_get(n, a) != flki_number_get(n, b))
			return false;
	return true;
}

bool
flki_settings_steer(unsigned which, const struct flk_settings *s)
{
	const struct flki_number *n;

	for (n = flki_numbers; n < flki_numbers + FLKI_NUMBERS; n++)
		if ((which & n->which) != 0 && flki_number_get(n, s) != n->none)
			return true;
	return false;
}
