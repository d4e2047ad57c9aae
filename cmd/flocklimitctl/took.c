/* SPDX-License-Identifier: ISC */
#include "took.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

int
took_read(struct flk *f, struct sample **sample, size_t *n)
{
	struct flk_event *e = calloc(FLK_HISTORY, sizeof(*e));
	struct sample *s = calloc(FLK_HISTORY, sizeof(*s));
	size_t events, i;

	*n = 0;
	*sample = s;
	if (e == NULL || s == NULL) {
		free(e);
		free(s);
		*sample = NULL;
		return -ENOMEM;
	}
	events = flk_history(f, 0, e, FLK_HISTORY);
	for (i = 0; i < events; i++) {
		if (e[i].kind != FLK_EV_RELEASED || e[i].memory == 0)
			continue;
		memcpy(s->command, e[i].command, sizeof(s->command));
		s->memory = e[i].memory;
		s->cpu_ns = e[i].cpu_ns;
		s++;
	}
	*n = (size_t)(s - *sample);
	free(e);
	return 0;
}

static int
by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* The smallest value that so many per cent of them do not exceed. */
static uint64_t
rank(const uint64_t *sorted, size_t n, size_t percent)
{
	return sorted[(n * percent + 99) / 100 - 1];
}

struct spread
took_spread(uint64_t *value, size_t n)
{
	qsort(value, n, sizeof(*value), by_value);
	return (struct spread){ rank(value, n, 50), rank(value, n, 95), value[n - 1] };
}

int
took_all(const struct sample *sample, size_t n, struct took *all)
{
	uint64_t *value = calloc(n + 1, sizeof(*value));
	size_t i;

	*all = (struct took){ .runs = n };
	if (value == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		value[i] = sample[i].memory;
	if (n > 0)
		all->memory = took_spread(value, n);
	for (i = 0; i < n; i++)
		value[i] = sample[i].cpu_ns;
	if (n > 0)
		all->cpu_ns = took_spread(value, n);
	free(value);
	return 0;
}

static json_t *
json_spread(const struct spread *s, json_t *(*json_value)(uint64_t))
{
	json_t *o = json_object();

	json_put(o, "median", json_value(s->median));
	json_put(o, "p95", json_value(s->p95));
	json_put(o, "max", json_value(s->max));
	return o;
}

json_t *
took_json_bytes(const struct spread *s)
{
	return json_spread(s, json_u64);
}

static json_t *
json_span(uint64_t ns)
{
	return json_seconds((double)ns / 1e9);
}

json_t *
took_json(const struct took *t)
{
	json_t *o;

	if (t->runs == 0)
		return json_null();
	o = json_object();
	json_put(o, "runs", json_u64(t->runs));
	json_put(o, "memory", took_json_bytes(&t->memory));
	json_put(o, "cpu", json_spread(&t->cpu_ns, json_span));
	return o;
}
