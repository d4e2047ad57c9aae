/* SPDX-License-Identifier: ISC */
/*
 * suggest.c - the verb suggest: which -w fits a command, where a unit stands for memory.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "limiters.h"
#include "say.h"
#include "text.h"
#include "took.h"

/* What is printed: rows of a table, or objects of an array. */
struct sheet {
	struct table *table;
	json_t *array;
};

/* Of one command: the samples that have its name. */
struct advice {
	const char *command;
	size_t runs;
	struct spread memory;
	uint64_t weight;
};

static int
by_command(const void *a, const void *b)
{
	const struct sample *x = a, *y = b;

	return strcmp(x->command, y->command);
}

static uint64_t
weight_for(uint64_t memory, uint64_t unit)
{
	uint64_t weight = memory / unit + (memory % unit != 0);

	return weight < FLK_MAX_UNITS ? weight : FLK_MAX_UNITS;
}

/* About the command of the first sample; the samples are sorted by command. */
static struct advice
advise(const struct sample *s, size_t n, uint64_t unit, uint64_t *value)
{
	struct advice a = { .command = s->command };

	while (a.runs < n && strcmp(s[a.runs].command, s->command) == 0) {
		value[a.runs] = s[a.runs].memory;
		a.runs++;
	}
	a.memory = took_spread(value, a.runs);
	a.weight = weight_for(a.memory.p95, unit);
	return a;
}

static void
add_row(const struct ctl *c, struct table *t, const char *name, const struct advice *a)
{
	char room[3][SIZE_TEXT], shown[VISIBLE(20)], limiter[VISIBLE(FLK_NAME_MAX)];

	if (is_many(c))
		table_cell(t, "%s", visible(name, limiter, sizeof(limiter)));
	table_cell(t, "%s", visible(a->command, shown, sizeof(shown)));
	table_cell(t, "%zu", a->runs);
	table_cell(t, "%s", size_text(a->memory.median, c->raw, room[0]));
	table_cell(t, "%s", size_text(a->memory.p95, c->raw, room[1]));
	table_cell(t, "%s", size_text(a->memory.max, c->raw, room[2]));
	table_cell(t, "%" PRIu64, a->weight);
}

static json_t *
json_advice(const struct advice *a)
{
	json_t *o = json_object();

	json_put(o, "command", json_text(a->command));
	json_put(o, "runs", json_u64(a->runs));
	json_put(o, "memory", took_json_bytes(&a->memory));
	json_put(o, "weight", json_u64(a->weight));
	return o;
}

/* Sorts the samples, and adds what is to be said of each command. */
static int
add_limiter(const struct ctl *c, struct sheet *sheet, const char *name, const char *path,
	    struct sample *s, size_t n)
{
	uint64_t *value = calloc(n + 1, sizeof(*value));
	json_t *commands = json_array(), *o;
	struct advice a;
	size_t i;

	if (value == NULL) {
		json_decref(commands);
		return -ENOMEM;
	}
	qsort(s, n, sizeof(*s), by_command);
	for (i = 0; i < n; i += a.runs) {
		a = advise(s + i, n - i, c->unit, value);
		json_array_append_new(commands, json_advice(&a));
		if (!c->json)
			add_row(c, sheet->table, name, &a);
	}
	free(value);
	o = json_begin(name, path);
	json_put(o, "unit_bytes", json_u64(c->unit));
	json_put(o, "commands", commands);
	json_array_append_new(sheet->array, o);
	return 0;
}

static int
suggest_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct sheet *sheet = ctx;
	struct sample *s = NULL;
	size_t n = 0;
	int error = v->error;

	if (error == 0)
		error = took_read(v->f, &s, &n);
	if (error == 0)
		error = add_limiter(c, sheet, v->name, v->path, s, n);
	free(s);
	if (error != 0)
		return error;
	if (n == 0 && !c->all) {
		say(v->name,
		    "nothing to suggest: its history has no command whose memory is known");
		return NO;
	}
	return DONE;
}

int
suggest_weights(const struct ctl *c)
{
	struct sheet sheet = { .table = NULL };
	int status;

	if (!is_named(c))
		return FAILED;
	sheet.array = json_array();
	sheet.table = table_new(is_many(c) ? "LIMITER|COMMAND|>RUNS|>MEDIAN|>P95|>MAX|>WEIGHT"
					   : "COMMAND|>RUNS|>MEDIAN|>P95|>MAX|>WEIGHT");
	status = for_each(c, suggest_one, &sheet);
	if (c->json) {
		json_print_each(sheet.array, is_many(c));
	} else {
		if (table_rows(sheet.table) > 0) {
			table_print(sheet.table, "");
		} else if (c->all && status == DONE) {
			say(NULL,
			    "nothing to suggest: no history has a command whose memory is known");
			status = NO;
		}
		json_decref(sheet.array);
	}
	table_free(sheet.table);
	return status;
}
