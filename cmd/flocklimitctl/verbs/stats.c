/* SPDX-License-Identifier: ISC */
/*
 * stats.c - the verb stats: counters in the text format of Prometheus, for node_exporter's textfile
 * collector, or as JSON.
 */
#include "ctl.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kind.h"
#include "json.h"
#include "limiter_state.h"
#include "limiters.h"
#include "now.h"
#include "took.h"

/* The format has each metric with all limiters under it, so we look at all limiters first. */
struct collected {
	size_t n;
	struct limiter {
		char *name, *path;
		struct flk_snapshot *s; /* NULL: it can't be looked at */
		struct took took;
		int error;
	} * limiter;
};

static int
collect(const struct ctl *c, const struct visit *v, void *ctx)
{
	struct collected *all = ctx;
	struct flk_snapshot *s = NULL;
	struct sample *sample = NULL;
	struct took took = { .runs = 0 };
	struct limiter *more;
	size_t n = 0;
	int error = v->error;

	if (error == 0)
		error = flk_snapshot(v->f, &s);
	if (error == 0) {
		if ((error = took_read(v->f, &sample, &n)) == 0)
			error = took_all(sample, n, &took);
		free(sample);
	}
	if (error != 0) {
		free(s);
		s = NULL;
	}
	/* A damaged limiter must not hide the others: the metric usable says so. */
	if (error != 0 && c->words + c->files > 0)
		return error;
	if (is_nothing(error))
		return DONE;
	more = reallocarray(all->limiter, all->n + 1, sizeof(*more));
	if (more == NULL) {
		free(s);
		return -ENOMEM;
	}
	all->limiter = more;
	more[all->n++] = (struct limiter){ .name = strdup(v->name),
					   .path = strdup(v->path),
					   .s = s,
					   .took = took,
					   .error = error };
	return DONE;
}

/* A metric's name and labels; in a value, backslash, quote and newline are escaped. */
static void
print_name(const char *metric, const char *name, const char *more)
{
	printf("flocklimit_%s{limiter=\"", metric);
	for (; name != NULL && *name != '\0'; name++) {
		if (*name == '\n')
			fputs("\\n", stdout);
		else
			printf("%s%c", *name == '\\' || *name == '"' ? "\\" : "", *name);
	}
	printf("\"%s} ", more);
}

static void
print_head(const char *name, const char *type, const char *help)
{
	printf("# HELP flocklimit_%s %s\n# TYPE flocklimit_%s %s\n", name, help, name, type);
}

#define METRICS           13
#define METRICS_OF_STORES 9 /* the first; nobody counts the others there */

struct metric {
	const char *name, *type, *help;
	double value;
};

static void
read_metrics(const struct flk_snapshot *s, struct metric metrics[METRICS])
{
	bool paused = s->set.paused || s->set.override == 0;
	const struct metric all[METRICS] = {
		{ "used_units", "gauge", "Units of weight held.", (double)s->used },
		{ "limit_units", "gauge", "The limit in force.", s->limit },
		{ "holders", "gauge", "Takers that hold a permit.", s->holders },
		{ "waiters", "gauge", "Takers in the line.", s->waiters },
		{ "oldest_wait_seconds", "gauge", "How long the waiter that came first has waited.",
		  s->waiters > 0 ? seconds_since(entry_waiting_longest(s)->since_ns) : 0 },
		{ "paused", "gauge", "1 while nothing new starts.", paused },
		{ "closed", "gauge", "1 while waiters and newcomers are rejected.", s->set.closed },
		{ "granted_total", "counter", "Permits granted.", (double)s->granted },
		{ "released_total", "counter", "Permits released.", (double)s->released },
		{ "left_total", "counter", "Takers that gave up waiting or were rejected.",
		  (double)s->left },
		{ "cancelled_total", "counter",
		  "Waiters that another process took out of the line.", (double)s->evicted },
		{ "reaped_total", "counter", "Takers that were killed.", (double)s->reaped },
		{ "repaired_total", "counter", "Repairs after a taker was killed during a change.",
		  (double)s->repaired },
	};

	memcpy(metrics, all, sizeof(all));
}

static void
print_metrics(const struct collected *all)
{
	static const struct flk_snapshot none;
	struct metric of_none[METRICS], metrics[METRICS];
	size_t k, i;

	read_metrics(&none, of_none);
	for (k = 0; k < (here.is_file ? METRICS : METRICS_OF_STORES); k++) {
		print_head(of_none[k].name, of_none[k].type, of_none[k].help);
		for (i = 0; i < all->n; i++) {
			if (all->limiter[i].s == NULL)
				continue;
			read_metrics(all->limiter[i].s, metrics);
			print_name(metrics[k].name, all->limiter[i].name, "");
			printf("%.15g\n", metrics[k].value);
		}
	}
}

static void
print_usable(const struct collected *all)
{
	size_t i;

	print_head("usable", "gauge",
		   "0 where the limiter can't be looked at: it is damaged, say.");
	for (i = 0; i < all->n; i++) {
		print_name("usable", all->limiter[i].name, "");
		puts(all->limiter[i].s != NULL ? "1" : "0");
	}
}

/* "wait": how long takers waited, "hold": how long permits were held. */
static void
print_histogram(const char *span, const char *name, const struct flk_times *t)
{
	uint64_t count = 0;
	double bound = (double)FLK_BUCKET_NS / 1e9;
	char metric[40], le[40];
	int i;

	snprintf(metric, sizeof(metric), "%s_seconds_bucket", span);
	for (i = 0; i < FLK_BUCKETS; i++, bound *= 4) {
		count += t->count[i];
		if (i < FLK_BUCKETS - 1)
			snprintf(le, sizeof(le), ",le=\"%.15g\"", bound);
		else
			snprintf(le, sizeof(le), ",le=\"+Inf\"");
		print_name(metric, name, le);
		printf("%" PRIu64 "\n", count);
	}
	snprintf(metric, sizeof(metric), "%s_seconds_sum", span);
	print_name(metric, name, "");
	printf("%.9f\n", (double)t->sum_ns / 1e9);
	snprintf(metric, sizeof(metric), "%s_seconds_count", span);
	print_name(metric, name, "");
	printf("%" PRIu64 "\n", count);
}

static void
print_percentiles(const struct collected *all, const char *metric, double unit,
		  const struct spread *(*of)(const struct took *))
{
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct limiter *l = &all->limiter[i];
		if (l->took.runs == 0)
			continue;
		print_name(metric, l->name, ",percentile=\"50\"");
		printf("%.15g\n", (double)of(&l->took)->median / unit);
		print_name(metric, l->name, ",percentile=\"95\"");
		printf("%.15g\n", (double)of(&l->took)->p95 / unit);
	}
}

static const struct spread *
memory_of(const struct took *t)
{
	return &t->memory;
}

static const struct spread *
cpu_of(const struct took *t)
{
	return &t->cpu_ns;
}

/* The history forgets, so these may fall: they are gauges, and only a summary has quantiles. */
static void
print_took(const struct collected *all)
{
	size_t i;

	print_head("measured_runs", "gauge", "Commands of the history whose memory is known.");
	for (i = 0; i < all->n; i++) {
		if (all->limiter[i].s == NULL)
			continue;
		print_name("measured_runs", all->limiter[i].name, "");
		printf("%zu\n", all->limiter[i].took.runs);
	}
	print_head("run_memory_bytes", "gauge", "Peak memory of these commands.");
	print_percentiles(all, "run_memory_bytes", 1, memory_of);
	print_head("run_cpu_seconds", "gauge", "CPU time of these commands.");
	print_percentiles(all, "run_cpu_seconds", 1e9, cpu_of);
}

static void
print_text(const struct collected *all)
{
	size_t i;

	print_usable(all);
	print_metrics(all);
	print_head("wait_seconds", "histogram", "How long takers waited for their permit.");
	for (i = 0; i < all->n; i++)
		if (all->limiter[i].s != NULL)
			print_histogram("wait", all->limiter[i].name, &all->limiter[i].s->waited);
	print_head("hold_seconds", "histogram", "How long permits were held.");
	for (i = 0; i < all->n; i++)
		if (all->limiter[i].s != NULL)
			print_histogram("hold", all->limiter[i].name, &all->limiter[i].s->held);
	print_took(all);
}

/* A limiter that can't be used has no totals. */
static void
print_json(const struct collected *all)
{
	json_t *array = json_array(), *o;
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct limiter *l = &all->limiter[i];
		o = json_limiter(l->name, l->path, l->s, l->error);
		json_put(o, "totals", l->s == NULL ? json_null() : json_totals(l->s));
		json_put(o, "took", took_json(&l->took));
		json_array_append_new(array, o);
	}
	json_print(array);
}

int
stats(const struct ctl *c)
{
	struct collected all = { .n = 0 };
	int status = for_each(c, collect, &all);
	size_t i;

	if (c->json)
		print_json(&all);
	else if (all.n > 0 || status == DONE)
		print_text(&all);
	for (i = 0; i < all.n; i++) {
		free(all.limiter[i].name);
		free(all.limiter[i].path);
		free(all.limiter[i].s);
	}
	free(all.limiter);
	return status;
}
