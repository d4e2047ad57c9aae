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
	if (error == 0 && here.keeps_history) {
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

/* The labels; in a value, backslash, quote and newline are escaped. */
static void
print_labels(const char *name, const char *more)
{
	fputs("{limiter=\"", stdout);
	for (; name != NULL && *name != '\0'; name++) {
		if (*name == '\n')
			fputs("\\n", stdout);
		else
			printf("%s%c", *name == '\\' || *name == '"' ? "\\" : "", *name);
	}
	printf("\"%s} ", more);
}

struct metric {
	const char *name, *type, *help;
	double (*value)(const struct flk_snapshot *s);
};

static double
used(const struct flk_snapshot *s)
{
	return (double)s->used;
}
static double
limit_of(const struct flk_snapshot *s)
{
	return s->limit;
}
static double
holders(const struct flk_snapshot *s)
{
	return s->holders;
}
static double
waiters(const struct flk_snapshot *s)
{
	return s->waiters;
}
static double
paused(const struct flk_snapshot *s)
{
	return s->set.paused || s->set.override == 0;
}
static double
closed(const struct flk_snapshot *s)
{
	return s->set.closed;
}
static double
granted(const struct flk_snapshot *s)
{
	return (double)s->granted;
}
static double
released(const struct flk_snapshot *s)
{
	return (double)s->released;
}
static double
left(const struct flk_snapshot *s)
{
	return (double)s->left;
}
static double
cancelled(const struct flk_snapshot *s)
{
	return (double)s->evicted;
}
static double
reaped(const struct flk_snapshot *s)
{
	return (double)s->reaped;
}
static double
repaired(const struct flk_snapshot *s)
{
	return (double)s->repaired;
}

static double
oldest(const struct flk_snapshot *s)
{
	return s->waiters > 0 ? seconds_since(s->entry[s->holders].since_ns) : 0;
}

static const struct metric metrics[] = {
	{ "used_units", "gauge", "Units of weight held.", used },
	{ "limit_units", "gauge", "The limit in force.", limit_of },
	{ "holders", "gauge", "Takers that hold a permit.", holders },
	{ "waiters", "gauge", "Takers in the line.", waiters },
	{ "oldest_wait_seconds", "gauge", "How long the head of the line has waited.", oldest },
	{ "paused", "gauge", "1 while nothing new starts.", paused },
	{ "closed", "gauge", "1 while waiters and newcomers are rejected.", closed },
	{ "granted_total", "counter", "Permits granted.", granted },
	{ "released_total", "counter", "Permits released.", released },
	{ "left_total", "counter", "Takers that gave up waiting or were rejected.", left },
	{ "cancelled_total", "counter", "Waiters that another process took out of the line.",
	  cancelled },
	{ "reaped_total", "counter", "Takers that were killed.", reaped },
	{ "repaired_total", "counter", "Repairs after a taker was killed during a change.",
	  repaired },
};

static void
print_metric(const struct collected *all, const struct metric *m)
{
	size_t i;

	printf("# HELP flocklimit_%s %s\n# TYPE flocklimit_%s %s\n", m->name, m->help, m->name,
	       m->type);
	for (i = 0; i < all->n; i++) {
		if (all->limiter[i].s == NULL)
			continue;
		printf("flocklimit_%s", m->name);
		print_labels(all->limiter[i].name, "");
		printf("%.15g\n", m->value(all->limiter[i].s));
	}
}

static void
print_usable(const struct collected *all)
{
	size_t i;

	puts("# HELP flocklimit_usable 0 where the limiter can't be looked at: it is damaged, say."
	     "\n# TYPE flocklimit_usable gauge");
	for (i = 0; i < all->n; i++) {
		printf("flocklimit_usable");
		print_labels(all->limiter[i].name, "");
		puts(all->limiter[i].s != NULL ? "1" : "0");
	}
}

static void
print_histogram(const char *metric, const char *name, const struct flk_times *t)
{
	uint64_t count = 0;
	double bound = (double)FLK_BUCKET_NS / 1e9;
	char le[40];
	int i;

	for (i = 0; i < FLK_BUCKETS; i++, bound *= 4) {
		count += t->count[i];
		if (i < FLK_BUCKETS - 1)
			snprintf(le, sizeof(le), ",le=\"%.15g\"", bound);
		else
			snprintf(le, sizeof(le), ",le=\"+Inf\"");
		printf("flocklimit_%s_bucket", metric);
		print_labels(name, le);
		printf("%" PRIu64 "\n", count);
	}
	printf("flocklimit_%s_sum", metric);
	print_labels(name, "");
	printf("%.9f\nflocklimit_%s_count", (double)t->sum_ns / 1e9, metric);
	print_labels(name, "");
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
		printf("flocklimit_%s", metric);
		print_labels(l->name, ",percentile=\"50\"");
		printf("%.15g\nflocklimit_%s", (double)of(&l->took)->median / unit, metric);
		print_labels(l->name, ",percentile=\"95\"");
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

	puts("# HELP flocklimit_measured_runs Commands of the history whose memory is known.\n"
	     "# TYPE flocklimit_measured_runs gauge");
	for (i = 0; i < all->n; i++) {
		if (all->limiter[i].s == NULL)
			continue;
		fputs("flocklimit_measured_runs", stdout);
		print_labels(all->limiter[i].name, "");
		printf("%zu\n", all->limiter[i].took.runs);
	}
	puts("# HELP flocklimit_run_memory_bytes Peak memory of these commands.\n"
	     "# TYPE flocklimit_run_memory_bytes gauge");
	print_percentiles(all, "run_memory_bytes", 1, memory_of);
	puts("# HELP flocklimit_run_cpu_seconds CPU time of these commands.\n"
	     "# TYPE flocklimit_run_cpu_seconds gauge");
	print_percentiles(all, "run_cpu_seconds", 1e9, cpu_of);
}

static void
print_text(const struct collected *all)
{
	size_t i;

	print_usable(all);
	for (i = 0; i < sizeof(metrics) / sizeof(metrics[0]); i++)
		if (here.keeps_history || strcmp(metrics[i].type, "gauge") == 0)
			print_metric(all, &metrics[i]);
	if (!here.keeps_history)
		return;
	puts("# HELP flocklimit_wait_seconds How long takers waited for their permit.\n"
	     "# TYPE flocklimit_wait_seconds histogram");
	for (i = 0; i < all->n; i++)
		if (all->limiter[i].s != NULL)
			print_histogram("wait_seconds", all->limiter[i].name,
					&all->limiter[i].s->waited);
	puts("# HELP flocklimit_hold_seconds How long permits were held.\n"
	     "# TYPE flocklimit_hold_seconds histogram");
	for (i = 0; i < all->n; i++)
		if (all->limiter[i].s != NULL)
			print_histogram("hold_seconds", all->limiter[i].name,
					&all->limiter[i].s->held);
	print_took(all);
}

/* A limiter that can't be used has no totals, and neither has a store, which counts nothing. */
static void
print_json(const struct collected *all)
{
	json_t *array = json_array(), *o;
	size_t i;

	for (i = 0; i < all->n; i++) {
		const struct limiter *l = &all->limiter[i];
		o = json_limiter(l->name, l->path, l->s, l->error);
		json_put(o, "totals",
			 l->s == NULL || !here.keeps_history ? json_null() : json_totals(l->s));
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
