/* SPDX-License-Identifier: ISC */
#include "limit_word.h"

#include <stdio.h>
#include <string.h>

#include "flocklimit.h"
#include "parse.h"

bool
parse_limit(const char *word, int64_t *limit)
{
	size_t n = strlen(word);
	char number[16];
	uint64_t v;

	if (strcmp(word, "auto") == 0 || strcmp(word, "off") == 0) {
		*limit = FLK_AUTO;
		return true;
	}
	if (parse_number(word, 0, FLK_MAX_UNITS, &v)) {
		*limit = (int64_t)v;
		return true;
	}
	if (n < 2 || n > sizeof(number) || word[n - 1] != '%')
		return false;
	snprintf(number, sizeof(number), "%.*s", (int)(n - 1), word);
	if (!parse_number(number, 1, 100000, &v))
		return false;
	*limit = flk_cpus((uint32_t)v);
	return true;
}
