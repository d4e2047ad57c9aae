/* SPDX-License-Identifier: ISC */
/*
 * list.c - the verb list: all limiters, one line each.
 */
#include "ctl.h"
#include "declared.h"

#include <errno.h>
#include <limits.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "explain.h"
#include "json.h"
#include "limiter_state.h"
#include "limiters.h"
#include "now.h"
#include "text.h"
#include "kind.h"

struct listing {
	struct table *table;
	json_t *array; /* NULL: the table */
};

static void
add_row(const struct ctl *c, struct table *t, const char *name, const struct flk_snapshot *s)
{
	char wait[32] = "-", shown[PATH_MAX];

	if (s->waiters > 0)
		span(seconds_since(entry_waiting_longest(s)->since_ns), c->raw, wait);
	table_cell(t, "%s", visible(name, shown, sizeof(shown)));
	table_cell(t, "%" PRIu64 "/%u", s->used, s->limit);
	table_cell(t, "%u", s->holders);
	table_cell(t, "%u", s->waiters);
	table_cell(t, "%s", wait);
	table_cell(t, "%s", state_of(s));
	if (s->set.paused || s->set.closed || s->set.override == 0)
		table_colour(t, "33");
}

static void
add_bad_row(struct table *t, const char *name, int error)
{
	char shown[PATH_MAX];

	table_cell(t, "%s", visible(name, shown, sizeof(shown)));
	table_cell(t, "-");
	table_cell(t, "-");
	table_cell(t, "-");
	table_cell(t, "-");
	table_cell(t, "%s",
		   error == -FLK_DAMAGED ? "damaged: see flocklimitctl check" : explain(error));
	table_colour(t, "31");
}

/* No taker has used it yet. */
static void
add_declared(struct listing *l, const struct visit *v, const struct declared *d)
{
	uint32_t units = declared_options(d).limit;
	json_t *o;

	if (l->array != NULL) {
		o = json_limiter(v->name, v->path, NULL, -ENOENT);
		json_put(o, "state", json_string("declared"));
		json_put(o, "error", json_null());
		if (units != 0)
			json_put(o, "declared", json_integer(units));
		json_array_append_new(l->array, o);
		return;
	}
	table_cell(l->table, "%s", v->name);
	table_cell(l->table, units != 0 ? "0/%u" : "-", units);
	table_cell(l->table, "0");
	table_cell(l->table, "0");
	table_cell(l->table, "-");
	table_cell(l->table, "declared: %s:%u", d->file, d->line);
}

static int
list_one(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct flk_snapshot *s = NULL;
	struct listing *l = ctx;
	bool named = c->words + c->files > 0;
	int status = DONE, error = v->error;
	struct declared d;

	if (error == -ENOENT && declared_find(&d, v->name) == OPTION_OK && d.file != NULL) {
		add_declared(l, v, &d);
		return DONE;
	}
	if (error == 0)
		error = flk_snapshot(v->f, &s);
	if (error != 0 && named)
		status = refuse(v->name, v->path, v->f, error);
	/* A file of another boot, or one that was removed meanwhile, is no limiter. */
	if (error == -ENOENT || error == -FLK_GONE)
		return status;
	if (l->array != NULL)
		json_array_append_new(l->array, json_limiter(v->name, v->path, s, error));
	else if (s != NULL)
		add_row(c, l->table, v->name, s);
	else
		add_bad_row(l->table, v->name, error);
	free(s);
	return status;
}

/* The list shows standing orders, lest an operator forgets one. */
static void
print_orders(void)
{
	struct flk_settings o;
	int error = here.operating->orders(&o);

	if (error != 0) /* the list has printed a line about it */
		return;
	if (o.paused)
		puts("New limiters begin paused (flocklimitctl resume --all ends that).");
	if (o.closed)
		puts("New limiters begin closed (flocklimitctl open --all ends that).");
	if (o.override != FLK_AUTO)
		printf("New limiters begin with the limit %" PRIi64
		       " (flocklimitctl limit --all auto ends that).\n",
		       o.override);
}

int
list(const struct ctl *c)
{
	struct listing l = { .table = NULL, .array = NULL };
	int status;

	if (c->json)
		l.array = json_array();
	else
		l.table = table_new("NAME|>USED|>HOLDERS|>WAITERS|>OLDEST WAIT|STATE");
	status = for_each(c, list_one, &l);
	if (c->json) {
		json_print(l.array);
	} else {
		if (status == DONE || table_rows(l.table) > 0)
			table_print(l.table, "");
		table_free(l.table);
		if (!c->raw && c->words + c->files == 0)
			print_orders();
	}
	return status;
}
