/* SPDX-License-Identifier: ISC */
#include "gate.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "say.h"

const char *
gate_text(const struct flk_gate *g, char room[GATE_TEXT])
{
	char span[32];
	size_t n;

	snprintf(room, GATE_TEXT, "%s", g->when);
	n = strlen(room);
	if (n > 0 && g->settle_ns != FLK_SETTLE_NS)
		n += (size_t)snprintf(room + n, GATE_TEXT - n, ", settle %s",
				      say_duration((double)g->settle_ns / 1e9, span));
	if (n > 0 && g->patience_ns != FLK_PATIENCE_NS)
		snprintf(room + n, GATE_TEXT - n, ", patience %s",
			 g->patience_ns == UINT64_MAX
			     ? "never"
			     : say_duration((double)g->patience_ns / 1e9, span));
	return room;
}

/* What one unit of the condition's number is, by the letter behind it. */
static double
scale_of(const char *number, char *letter)
{
	static const char units[] = "KMGT";
	const char *at = number + strspn(number, "0123456789."), *found;

	*letter = (char)toupper((unsigned char)*at);
	found = *at != '\0' ? strchr(units, *letter) : NULL;
	if (found == NULL)
		*letter = '\0';
	return found == NULL ? 1 : (double)(UINT64_C(1) << 10 * (found - units + 1));
}

/* In the unit of what is wanted, which is not repeated; far below that in one that says something. */
static void
size_now(uint64_t value, double scale, char room[40])
{
	static const char units[] = "KMGT";
	unsigned u = 0;

	*room = '\0';
	if (value == UINT64_MAX)
		return;
	if (scale == 1 || (double)value >= scale / 10) {
		snprintf(room, 40, ", %.*f now", scale > 1, (double)value / scale);
		return;
	}
	for (; u < 3 && value >> 10 * (u + 2) != 0; u++)
		;
	snprintf(room, 40, ", %.1f %ciB now", (double)value / (double)(UINT64_C(1) << 10 * (u + 1)),
		 units[u]);
}

static void
size_wanted(const struct flk_gated *g, const char *sign, char room[GATED_TEXT])
{
	const char *colon = strchr(g->when, ':');
	char letter, now[40];
	double scale = scale_of(sign + 1, &letter);
	int digits = (int)strspn(sign + 1, "0123456789.");

	size_now(g->value, scale, now);
	snprintf(room, GATED_TEXT, "%.*s %c%s free%s%.*s%s", digits, sign + 1,
		 letter != '\0' ? letter : 'b', letter != '\0' ? "iB" : "ytes",
		 colon != NULL ? " in " : "", colon != NULL ? (int)(sign - colon - 1) : 0,
		 colon != NULL ? colon + 1 : "", now);
}

const char *
gated_text(const struct flk_gated *g, char room[GATED_TEXT])
{
	const char *sign = strpbrk(g->when, "<>");
	bool tasks = strncmp(g->when, "running", 7) == 0;
	double value = tasks ? (double)g->value : (double)g->value / 100;
	char now[40] = ", not known yet";
	int digits;

	if (sign == NULL) {
		snprintf(room, GATED_TEXT, "%s",
			 strcmp(g->when, FLK_GATE_QUESTION) == 0
			     ? "a yes to its --when-run"
			     : "the gate, as the last start settles");
		return room;
	}
	if (*sign == '>') {
		size_wanted(g, sign, room);
		return room;
	}
	digits = (int)strspn(sign + 1, "0123456789.");
	if (g->value != UINT64_MAX)
		snprintf(now, sizeof(now), ", %.*f now", !tasks && value < 10, value);
	if (tasks)
		snprintf(room, GATED_TEXT, "fewer than %.*s running tasks%s", digits, sign + 1,
			 now);
	else
		snprintf(room, GATED_TEXT, "%.*s below %.*s %%%s", (int)(sign - g->when), g->when,
			 digits, sign + 1, now);
	return room;
}
