/* SPDX-License-Identifier: ISC */
/*
 * store_start.c - the store's program starts, and does nothing.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "samples.h"
#include "store.h"

enum { NOOP, LOCAL, STORE, ETCD, ROWS };

#define GOAL_MS 4.0

void
store_start(const struct bench *b, const struct stage *s)
{
	struct samples time[ROWS] = { { 0 } };
	char noop[PATH_SIZE], file[2 * PATH_SIZE], link[PATH_SIZE];
	int rounds = runs(b, s, 500), round, i;
	struct command row[ROWS];
	double median;

	snprintf(file, sizeof(file), "%s/store-etcd", b->libexec);
	world_path(link, "flocklimit");
	if (symlink(file, link) == -1)
		die("%s: %s", link, strerror(errno));
	bench_command(b, "noop-small", noop);
	command_make(&row[NOOP], "a no-op, static", noop, NULL);
	command_make(&row[LOCAL], "flocklimit --version", b->program, "--version", NULL);
	command_make(&row[STORE], "store-etcd, as flocklimit --version", link, "--version", NULL);
	command_make(&row[ETCD], "etcdctl version", "etcdctl", "version", NULL);
	for (round = -5; round < rounds; round++)
		for (i = 0; i < ROWS; i++)
			if (command_is_there(&row[i])) {
				double ms = (double)command_time(&row[i]) / 1e6;

				if (round >= 0)
					samples_add(&time[i], ms);
			}
	fprintf(report, "\n### Start of a program, and its end\n");
	report_head("program|median, ms|p99|runs|goal, at most|met");
	for (i = 0; i < ROWS; i++) {
		if (time[i].count == 0)
			continue;
		median = samples_median(&time[i]);
		fprintf(report, "| %s | %.2f | %.2f | %zu | ", row[i].label, median,
			samples_quantile(&time[i], 0.99), time[i].count);
		if (i == STORE)
			fprintf(report, "%.0f | %s |\n", GOAL_MS, median <= GOAL_MS ? "yes" : "no");
		else
			fprintf(report, "- | - |\n");
		command_free(&row[i]);
		samples_free(&time[i]);
	}
	unlink(link);
}
