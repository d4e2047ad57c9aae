#include "pace.h"

#include <stdio.h>
#include <string.h>

#include "now.h"
#include "parse.h"
#include "say.h"

static const struct {
	char letter;
	uint64_t ns;
} units[] = {
	{ 's', SECOND }, { 'm', 60 * SECOND }, { 'h', 3600 * SECOND }, { 'd', 86400 * SECOND }
};

#define UNITS (sizeof(units) / sizeof(units[0]))

/* The number before `end', which is one of the word's letters. */
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

/* s, m, h, d for one of them, or a duration. */
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
pace_parse_rate(const char *word, struct flk_pace *p)
{
	const char *slash = strchr(word, '/'), *colon = strrchr(word, ':'), *end;
	uint64_t starts, span, burst = 1;

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
	/* Rounded up: at most so many. */
	p->interval_ns = span / starts + (span % starts != 0);
	p->burst = (uint32_t)burst;
	return p->interval_ns <= UINT64_MAX >> 16;
}

bool
pace_parse_stagger(const char *word, struct flk_pace *p)
{
	p->stagger_ns = 0;
	return strcmp(word, "off") == 0 || parse_duration(word, &p->stagger_ns);
}

bool
pace_parse_ramp(const char *word, struct flk_pace *p)
{
	const char *plus = strchr(word, '+'), *slash = strchr(word, '/');
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
	if ((which & FLK_RATE) && (a->interval_ns != b->interval_ns || a->burst != b->burst))
		return false;
	if ((which & FLK_STAGGER) && a->stagger_ns != b->stagger_ns)
		return false;
	return !(which & FLK_RAMP) ||
	       (a->ramp_from == b->ramp_from && a->ramp_step == b->ramp_step &&
		a->ramp_period_ns == b->ramp_period_ns && a->ramp_idle_ns == b->ramp_idle_ns);
}

/* As it would be typed, if it was; else as one per so long. */
static int
put_rate(const struct flk_pace *p, char *to, size_t size)
{
	char burst[16] = "", span[32];
	uint64_t n;
	size_t i;

	if (p->burst > 1)
		snprintf(burst, sizeof(burst), ":%u", p->burst);
	for (i = 0; i < UNITS; i++) {
		n = units[i].ns / p->interval_ns + (units[i].ns % p->interval_ns != 0);
		if (n > 0 && units[i].ns / n + (units[i].ns % n != 0) == p->interval_ns)
			return snprintf(to, size, "rate %llu/%c%s", (unsigned long long)n,
					units[i].letter, burst);
	}
	return snprintf(to, size, "rate 1 per %s%s",
			say_duration((double)p->interval_ns / 1e9, span), burst);
}

const char *
pace_text(const struct flk_pace *p, char room[PACE_TEXT])
{
	char span[32];
	size_t n = 0;

	room[0] = '\0';
	if (p->interval_ns != 0)
		n += (size_t)put_rate(p, room, PACE_TEXT);
	if (p->stagger_ns != 0 && n < PACE_TEXT)
		n += (size_t)snprintf(room + n, PACE_TEXT - n, "%sstagger %s", n > 0 ? ", " : "",
				      say_duration((double)p->stagger_ns / 1e9, span));
	if (p->ramp_from != 0 && n < PACE_TEXT)
		snprintf(room + n, PACE_TEXT - n, "%sramp %u+%u per %s", n > 0 ? ", " : "",
			 p->ramp_from, p->ramp_step,
			 say_duration((double)p->ramp_period_ns / 1e9, span));
	return room;
}
