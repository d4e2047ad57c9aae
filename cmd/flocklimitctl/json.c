#include "json.h"

#include <stdint.h>
#include <stdio.h>

#include "ctl.h"
#include "explain.h"
#include "text.h"

void
json_put(json_t *object, const char *key, json_t *value)
{
	json_object_set_new(object, key, value);
}

json_t *
json_text(const char *text)
{
	json_t *s = json_string(text);
	char room[VISIBLE(FLK_COMMAND)];

	return s != NULL ? s : json_string(visible(text, room, sizeof(room)));
}

/* To the millisecond: more digits would be noise. */
json_t *
json_seconds(double seconds)
{
	return json_real((double)(int64_t)(seconds * 1e3 + 0.5) / 1e3);
}

json_t *
json_u64(uint64_t n)
{
	return json_integer((json_int_t)n);
}

void
json_limiter(json_t *o, const struct flk_snapshot *s)
{
	json_put(o, "state", json_string(state_of(s)));
	json_put(o, "limit", json_integer(s->limit));
	json_put(o, "declared", json_integer(s->declared));
	json_put(o, "override", s->override == FLK_AUTO ? json_null() : json_integer(s->override));
	json_put(o, "withheld", json_integer(s->withheld));
	json_put(o, "used", json_u64(s->used));
}

void
json_unusable(json_t *o, int error)
{
	json_put(o, "state", json_string(error == -FLK_DAMAGED ? "damaged" : "unusable"));
	json_put(o, "error", json_text(explain(error)));
}

static json_t *
json_times(const struct flk_times *t)
{
	uint64_t count = 0;
	json_t *o = json_object();
	int i;

	for (i = 0; i < FLK_BUCKETS; i++)
		count += t->count[i];
	json_put(o, "count", json_u64(count));
	json_put(o, "sum_s", json_seconds((double)t->sum_ns / 1e9));
	return o;
}

json_t *
json_totals(const struct flk_snapshot *s)
{
	json_t *o = json_object();

	json_put(o, "last_ticket", json_u64(s->last_ticket));
	json_put(o, "granted", json_u64(s->granted));
	json_put(o, "released", json_u64(s->released));
	json_put(o, "left", json_u64(s->left));
	json_put(o, "cancelled", json_u64(s->evicted));
	json_put(o, "reaped", json_u64(s->reaped));
	json_put(o, "repaired", json_u64(s->repaired));
	json_put(o, "waited", json_times(&s->waited));
	json_put(o, "held", json_times(&s->held));
	return o;
}

void
json_print(json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(value);
}

void
json_print_line(json_t *value)
{
	json_dumpf(value, stdout, JSON_COMPACT | JSON_REAL_PRECISION(15));
	putchar('\n');
	json_decref(value);
}
