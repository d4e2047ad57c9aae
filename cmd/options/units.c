/* SPDX-License-Identifier: ISC */
/*
 * units.c - the words of -n and -w.
 */
#include "units.h"

#include <string.h>
#include <unistd.h>

#include "find_program.h"
#include "flocklimit.h"
#include "parse.h"
#include "taker_options.h"

/* N% of the CPUs: the number before the sign. */
static bool
parse_percent(const char *word, uint32_t *percent)
{
	size_t n = strlen(word);
	char digits[16];
	uint64_t v;

	if (n < 2 || n > sizeof(digits) || word[n - 1] != '%')
		return false;
	memcpy(digits, word, n);
	digits[n - 1] = '\0';
	if (!parse_number(digits, 1, 100000, &v))
		return false;
	*percent = (uint32_t)v;
	return true;
}

int
take_limit(const struct option_row *row, void *into, const char *option, char *word)
{
	struct taker_options *w = into;
	size_t n = strlen(word);
	uint64_t v;

	(void)row;
	w->limit_given = true;
	if (n > 1 && word[n - 1] == '%') {
		if (!parse_percent(word, &w->percent))
			return option_bad(option, word, "not a percentage: use 1% to 100000%");
		w->request.limit = 0;
		return OPTION_OK;
	}
	if (!parse_number(word, 1, FLK_MAX_UNITS, &v)) {
		if (strchr(word, '/') != NULL || access(word, F_OK) == 0 ||
		    check_program(word) == 0)
			return option_bad(option, word,
					  "not a limit: use 1 to 1000000000, or N%; for flock's -n "
					  "use --nonblock");
		return option_bad(option, word, "not a limit: use 1 to 1000000000, or N%");
	}
	w->request.limit = (uint32_t)v;
	w->percent = 0;
	return OPTION_OK;
}

/* A part of a weight: N or N%. */
static bool
parse_units(const char *word, uint32_t *units, uint32_t *percent)
{
	uint64_t v;

	*percent = 0;
	if (parse_percent(word, percent)) {
		*units = 1; /* until limiter_count_units() */
		return true;
	}
	if (!parse_number(word, 1, FLK_MAX_UNITS, &v))
		return false;
	*units = (uint32_t)v;
	return true;
}

#define NO_WEIGHT "not a weight: use 1 to 1000000000, N%, MIN-MAX or MIN-; for flock's -w use -t"

/* N, or MIN-MAX, or MIN- for up to the limit. */
int
take_weight(const struct option_row *row, void *into, const char *option, char *word)
{
	struct taker_options *w = into;
	const char *dash = strchr(word, '-');
	char least[16];

	(void)row;
	w->weight_given = true;
	w->weight_word = word;
	if (dash == NULL) {
		if (!parse_units(word, &w->request.weight, &w->weight_percent))
			return option_bad(option, word, NO_WEIGHT);
		w->request.most = w->request.weight;
		w->most_percent = w->weight_percent;
		return OPTION_OK;
	}
	if ((size_t)(dash - word) >= sizeof(least))
		return option_bad(option, word, NO_WEIGHT);
	memcpy(least, word, (size_t)(dash - word));
	least[dash - word] = '\0';
	w->request.most = FLK_MAX_UNITS;
	w->most_percent = 0;
	if (!parse_units(least, &w->request.weight, &w->weight_percent) ||
	    (dash[1] != '\0' && !parse_units(dash + 1, &w->request.most, &w->most_percent)))
		return option_bad(option, word, NO_WEIGHT);
	if (w->weight_percent != 0 && w->most_percent != 0
		? w->most_percent < w->weight_percent
		: w->weight_percent == 0 && w->most_percent == 0 &&
		      w->request.most < w->request.weight)
		return option_bad(option, word, "MAX is below MIN: use MIN-MAX, say 2-8");
	return OPTION_OK;
}
