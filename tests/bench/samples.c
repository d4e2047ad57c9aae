/* SPDX-License-Identifier: ISC */
#include "samples.h"

#include <stdlib.h>

#include "world.h"

void
samples_add(struct samples *s, double value)
{
	if (s->count == s->room) {
		s->room = s->room == 0 ? 512 : 2 * s->room;
		s->value = realloc(s->value, s->room * sizeof(*s->value));
		if (s->value == NULL)
			die("no memory");
	}
	s->value[s->count++] = value;
}

static int
compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

double
samples_quantile(struct samples *s, double share)
{
	if (s->count == 0)
		return 0;
	qsort(s->value, s->count, sizeof(*s->value), compare);
	return s->value[(size_t)(share * (double)(s->count - 1) + 0.5)];
}

double
samples_median(struct samples *s)
{
	return samples_quantile(s, 0.5);
}

void
samples_free(struct samples *s)
{
	free(s->value);
	s->value = NULL;
	s->count = s->room = 0;
}
