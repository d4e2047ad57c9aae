/* SPDX-License-Identifier: ISC */
#include "pace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "now.h"
#include "parse.h"

static const struct {
	char letter;
	uint64_t ns;
} units[] = {
	{ 's', SECOND }, { 'm', 60 * SECOND }, { 'h', 3600 * SECOND }, { 'd', 86400 * SECOND }
};

#define UNITS (sizeof(units) / sizeof(units[0]))

/* The number from the beginning of WORD up to `end', which points into it. */
static bool
number_before(const char *word, const char *end, uint64_t least, uint64_t most, uint64_t *value)
{
	char digits[24];
	size_t n = (size_t)(end - word);

	if (n >= sizeof(digits))
		return false;
	memcpy(digits, word, n);
	digits[n] = '\0';
	return parse_number(digits, least, most, value);
}

/* The N bytes at WORD: s, m, h or d, for one second, minute, hour or day; or a duration. */
static bool
parse_span(const char *word, size_t n, uint64_t *ns)
{
	char span[32];
	size_t i;

	for (i = 0; i < UNITS && n == 1; i++) {
		if (*word == units[i].letter) {
			*ns = units[i].ns;
			return true;
		}
	}
	if (n == 0 || n >= sizeof(span))
		return false;
	memcpy(span, word, n);
	span[n] = '\0';
	return parse_duration(span, ns) && *ns > 0;
}

bool
pace_parse_rate(const char *word, void *pace)
{
	const char *slash = strchr(word, '/'), *colon = strrchr(word, ':'), *end;
	uint64_t starts, span, burst = 1;
	struct flk_pace *p = pace;

	if (strcmp(word, "off") == 0) {
		p->interval_ns = 0;
		p->burst = 0;
		return true;
	}
	end = colon != NULL ? colon : word + strlen(word);
	if (slash == NULL || slash > end || !number_before(word, slash, 1, SECOND, &starts) ||
	    !parse_span(slash + 1, (size_t)(end - slash) - 1, &span) ||
	    (colon != NULL && !parse_number(colon + 1, 1, 65535, &burst)))
		return false;
	/* Rounded up, so that no more than STARTS begin in the span. */
	p->interval_ns = span / starts + (span % starts != 0);
	p->burst = (uint32_t)burst;
	return p->interval_ns <= UINT64_MAX >> 16;
}

bool
pace_parse_stagger(const char *word, void *pace)
{
	struct flk_pace *p = pace;

	p->stagger_ns = 0;
	return strcmp(word, "off") == 0 || parse_duration(word, &p->stagger_ns);
}

bool
pace_parse_ramp(const char *word, void *pace)
{
	const char *plus = strchr(word, '+'), *slash = strchr(word, '/');
	struct flk_pace *p = pace;
	uint64_t from, step;

	if (strcmp(word, "off") == 0) {
		p->ramp_from = p->ramp_step = 0;
		p->ramp_period_ns = 0;
		return true;
	}
	if (plus == NULL || slash == NULL || slash < plus ||
	    !number_before(word, plus, 1, 65535, &from) ||
	    !number_before(plus + 1, slash, 1, 65535, &step) ||
	    !parse_span(slash + 1, strlen(slash + 1), &p->ramp_period_ns))
		return false;
	p->ramp_from = (uint32_t)from;
	p->ramp_step = (uint32_t)step;
	return p->ramp_period_ns % 1000000 == 0 && p->ramp_period_ns / 1000000 <= UINT32_MAX;
}

bool
pace_is_so(const struct flk_pace *a, const struct flk_pace *b, unsigned which)
{
	if ((which & FLK_SET_RATE) && (a->interval_ns != b->interval_ns || a->burst != b->burst))
		return false;
	if ((which & FLK_SET_STAGGER) && a->stagger_ns != b->stagger_ns)
		return false;
	return !(which & FLK_SET_RAMP) ||
	       (a->ramp_from == b->ramp_from && a->ramp_step == b->ramp_step &&
		a->ramp_period_ns == b->ramp_period_ns && a->ramp_idle_ns == b->ramp_idle_ns);
}

/* ---- as it would be typed ---- */

#define SPAN 48

/* "90s", "1.5s", "2h": exact to the nanosecond. */
static const char *
span_text(uint64_t ns, char room[SPAN])
{
	uint64_t part = ns % SECOND;
	size_t i, n;

	for (i = UNITS; i-- > 0 && ns > 0;) {
		if (ns % units[i].ns != 0)
			continue;
		snprintf(room, SPAN, "%llu%c", (unsigned long long)(ns / units[i].ns),
			 units[i].letter);
		return room;
	}
	if (ns < SECOND && ns % 1000000 == 0) {
		snprintf(room, SPAN, "%llums", (unsigned long long)(ns / 1000000));
		return room;
	}
	snprintf(room, SPAN, "%llu.%09llu", (unsigned long long)(ns / SECOND),
		 (unsigned long long)part);
	for (n = strlen(room); room[n - 1] == '0'; n--)
		;
	room[n] = 's';
	room[n + 1] = '\0';
	return room;
}

static void append(char room[PACE_TEXT], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void
append(char room[PACE_TEXT], const char *format, ...)
{
	size_t n = strlen(room);
	va_list ap;

	va_start(ap, format);
	vsnprintf(room + n, PACE_TEXT - n, format, ap);
	va_end(ap);
}

/*
 * The number of starts in a unit that gives this interval when it is rounded up.  Where several
 * numbers do, the roundest, so that the user's 300000 is not shown as 299941.  0: no number does.
 */
static uint64_t
starts_in(uint64_t unit_ns, uint64_t interval_ns)
{
	uint64_t least = unit_ns / interval_ns + (unit_ns % interval_ns != 0), most = least, n;
	uint64_t round = SECOND;

	if (unit_ns / least + (unit_ns % least != 0) != interval_ns)
		return 0;
	if (interval_ns > 1)
		most = (unit_ns - 1) / (interval_ns - 1);
	while ((n = most - most % round) < least && round > 1)
		round /= 10;
	return n;
}

static void
append_rate(const struct flk_pace *p, char room[PACE_TEXT])
{
	char span[SPAN];
	uint64_t n = 0;
	size_t i;

	for (i = 0; i < UNITS; i++)
		if ((n = starts_in(units[i].ns, p->interval_ns)) != 0)
			break;
	if (i < UNITS)
		append(room, "%llu/%c", (unsigned long long)n, units[i].letter);
	else
		append(room, "1/%s", span_text(p->interval_ns, span));
	if (p->burst > 1)
		append(room, ":%u", p->burst);
}

static void
append_ramp(const struct flk_pace *p, char room[PACE_TEXT])
{
	char span[SPAN];

	append(room, "%u+%u/%s", p->ramp_from, p->ramp_step, span_text(p->ramp_period_ns, span));
	if (p->ramp_idle_ns != PACE_IDLE_NS)
		append(room, ", ramp-idle %s", span_text(p->ramp_idle_ns, span));
}

const char *
pace_text(const struct flk_pace *p, unsigned which, char room[PACE_TEXT])
{
	char span[SPAN];

	room[0] = '\0';
	if (which & FLK_SET_RATE) {
		append(room, "rate ");
		p->interval_ns != 0 ? append_rate(p, room) : append(room, "off");
	}
	if (which & FLK_SET_STAGGER)
		append(room, "%sstagger %s", room[0] != '\0' ? ", " : "",
		       p->stagger_ns != 0 ? span_text(p->stagger_ns, span) : "off");
	if (which & FLK_SET_RAMP) {
		append(room, "%sramp ", room[0] != '\0' ? ", " : "");
		p->ramp_from != 0 ? append_ramp(p, room) : append(room, "off");
	}
	return room;
}

unsigned
pace_parts(const struct flk_pace *p)
{
	return (p->interval_ns != 0 ? FLK_SET_RATE : 0u) |
	       (p->stagger_ns != 0 ? FLK_SET_STAGGER : 0u) |
	       (p->ramp_from != 0 ? FLK_SET_RAMP : 0u);
}
