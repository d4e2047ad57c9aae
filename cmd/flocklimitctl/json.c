/* SPDX-License-Identifier: ISC */
#include "json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "kind.h"
#include "explain.h"
#include "limiter_state.h"
#include "now.h"
#include "seats.h"
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

json_t *
json_begin(const char *name, const char *path)
{
	json_t *o = json_object();

	json_put(o, "schema", json_integer(JSON_SCHEMA));
	json_put(o, "name", json_text(name));
	json_put(o, "path", json_text(path));
	return o;
}

static json_t *
json_unless(bool is_unknown, json_t *value)
{
	if (!is_unknown)
		return value;
	json_decref(value);
	return json_null();
}

/* For a limiter that can't be used, all fields but state and error are null. */
json_t *
json_limiter(const char *name, const char *path, const struct flk_snapshot *s, int error)
{
	static const struct flk_snapshot none;
	json_t *o = json_begin(name, path);
	bool bad = s == NULL;

	if (bad)
		s = &none;
	json_put(o, "state",
		 json_string(!bad                    ? state_of(s)
			     : error == -FLK_DAMAGED ? "damaged"
						     : "unusable"));
	json_put(o, "error", bad ? json_text(explain(error)) : json_null());
	json_put(o, "limit", json_unless(bad, json_integer(s->limit)));
	json_put(o, "declared", json_unless(bad, json_integer(s->set.declared)));
	json_put(o, "override",
		 json_unless(bad || s->set.override == FLK_AUTO, json_integer(s->set.override)));
	json_put(o, "withheld", json_unless(bad, json_integer(s->set.withheld)));
	json_put(o, "used", json_unless(bad, json_u64(s->used)));
	json_put(o, "holding", json_unless(bad, json_integer(s->holders)));
	json_put(o, "waiting", json_unless(bad, json_integer(s->waiters)));
	json_put(o, "oldest_wait_s",
		 s->waiters > 0 ? json_seconds(seconds_since(entry_waiting_longest(s)->since_ns))
				: json_null());
	return o;
}

/* ---- a pace ---- */

/* Not json_seconds(): the interval of a rate may be a microsecond. */
json_t *
json_exact(uint64_t ns)
{
	return json_real((double)ns / 1e9);
}

static json_t *
json_ramp(const struct flk_pace *p)
{
	json_t *o = json_object();

	json_put(o, "from", json_integer(p->ramp_from));
	json_put(o, "step", json_integer(p->ramp_step));
	json_put(o, "period_s", json_exact(p->ramp_period_ns));
	json_put(o, "idle_s", json_exact(p->ramp_idle_ns));
	return o;
}

json_t *
json_pace(const struct flk_pace *p)
{
	json_t *o = json_object();

	json_put(o, "interval_s", p->interval_ns != 0 ? json_exact(p->interval_ns) : json_null());
	json_put(o, "burst", p->interval_ns != 0 ? json_integer(p->burst) : json_null());
	json_put(o, "stagger_s", p->stagger_ns != 0 ? json_exact(p->stagger_ns) : json_null());
	json_put(o, "ramp", p->ramp_from != 0 ? json_ramp(p) : json_null());
	return o;
}

json_t *
json_gate(const struct flk_gate *g)
{
	json_t *o;

	if (g->when[0] == '\0')
		return json_null();
	o = json_object();
	json_put(o, "when", json_text(g->when));
	json_put(o, "settle_s", json_exact(g->settle_ns));
	json_put(o, "patience_s",
		 g->patience_ns != UINT64_MAX ? json_exact(g->patience_ns) : json_null());
	return o;
}

/* ---- what was counted ---- */

static json_t *
json_times(const struct flk_times *t)
{
	json_t *o = json_object(), *buckets = json_array(), *bucket;
	double bound = (double)FLK_BUCKET_NS / 1e9;
	uint64_t count = 0;
	int i;

	for (i = 0; i < FLK_BUCKETS; i++, bound *= 4) {
		count += t->count[i];
		bucket = json_object();
		json_put(bucket, "up_to_s", i < FLK_BUCKETS - 1 ? json_real(bound) : json_null());
		json_put(bucket, "count", json_u64(t->count[i]));
		json_array_append_new(buckets, bucket);
	}
	json_put(o, "count", json_u64(count));
	json_put(o, "sum_s", json_seconds((double)t->sum_ns / 1e9));
	json_put(o, "buckets", buckets);
	return o;
}

/* A store counts what was released, and nothing else. */
static json_t *
json_of_file(uint64_t n)
{
	return here.is_file ? json_u64(n) : json_null();
}

json_t *
json_totals(const struct flk_snapshot *s)
{
	json_t *o = json_object();

	json_put(o, "last_ticket", json_u64(s->last_ticket));
	json_put(o, "granted", json_u64(s->granted));
	json_put(o, "released", json_u64(s->released));
	json_put(o, "left", json_of_file(s->left));
	json_put(o, "cancelled", json_of_file(s->evicted));
	json_put(o, "reaped", json_of_file(s->reaped));
	json_put(o, "repairs", json_of_file(s->repaired));
	json_put(o, "wait_times", json_times(&s->waited));
	json_put(o, "hold_times", json_times(&s->held));
	return o;
}

json_t *
json_seats(uint64_t seats)
{
	json_t *array = json_array();

	for (; seats != 0; seats &= seats - 1)
		json_array_append_new(array, json_integer(seats_first(seats)));
	return array;
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

void
json_print_each(json_t *array, bool many)
{
	if (many) {
		json_print(array);
		return;
	}
	if (json_array_size(array) > 0)
		json_print(json_incref(json_array_get(array, 0)));
	json_decref(array);
}
