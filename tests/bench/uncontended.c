/* SPDX-License-Identifier: ISC */
/*
 * uncontended.c - a command for which there is room: what does the limiter add to it?
 */
#include "bench.h"
#include "process.h"
#include "report.h"
#include "samples.h"

/* In this order in every round, from another one each time, and backwards in every other. */
enum { FLOOR, TINY, ALONE, LIMIT, FLOCK, NOFORK, SETLOCK, CHPST, ROWS };

struct row {
	struct command first, second; /* run one after the other */
	struct samples time;          /* us */
};

static void
make_rows(const struct bench *b, int build, struct row row[ROWS])
{
	char path[PATH_SIZE], tiny[PATH_SIZE], flock[PATH_SIZE], setlock[PATH_SIZE],
	    chpst[PATH_SIZE];
	const char *x = bench_command(b, "noop", build, path);

	bench_command(b, "noop", BUILDS - 1, tiny);
	world_path(flock, "flock");
	world_path(setlock, "setlock");
	world_path(chpst, "chpst");
	command_make(&row[FLOOR].first, "floor: a no-op, then X", x, NULL);
	command_make(&row[FLOOR].second, "X", x, NULL);
	command_make(&row[TINY].first, "the smallest no-op, then X", tiny, NULL);
	command_make(&row[TINY].second, "X", x, NULL);
	command_make(&row[ALONE].first, "X alone", x, NULL);
	command_make(&row[LIMIT].first, "flocklimit -n 4 X", b->program, "-n", "4", x, NULL);
	command_make(&row[FLOCK].first, "flock FILE X", "flock", flock, x, NULL);
	command_make(&row[NOFORK].first, "flocklimit -F X", b->program, "-F", "-N", "exec", "-n",
		     "1", x, NULL);
	command_make(&row[SETLOCK].first, "setlock FILE X", "setlock", setlock, x, NULL);
	command_make(&row[CHPST].first, "chpst -L FILE X", "chpst", "-L", chpst, x, NULL);
}

static void
run_row(struct row *r, bool warm)
{
	uint64_t ns;

	if (!command_is_there(&r->first))
		return;
	ns = command_time(&r->first);
	if (command_is_there(&r->second))
		ns += command_time(&r->second);
	if (warm)
		samples_add(&r->time, (double)ns / 1e3);
}

static void
print_ratio(struct row *row, int of, int to, double goal)
{
	report_ratio(row[of].first.label, &row[of].time, row[to].first.label, &row[to].time, goal);
}

static void
measure(const struct bench *b, int build)
{
	struct row row[ROWS] = { 0 };
	int rounds = b->quick ? 100 : 1000, round, i;

	make_rows(b, build, row);
	for (round = -5; round < rounds; round++)
		for (i = 0; i < ROWS; i++)
			run_row(&row[((round & 1 ? ROWS - 1 - i : i) + round + ROWS) % ROWS],
				round >= 0);
	fprintf(report, "\n### 1. Uncontended: %s\n", builds[build].title);
	report_head("run|median, us|quartiles|runs");
	for (i = 0; i < ROWS; i++)
		report_times(row[i].first.label, &row[i].time);
	report_head("ratio of medians|value|goal, at most|met");
	print_ratio(row, LIMIT, FLOOR, 1.10);
	if (build != BUILDS - 1)
		print_ratio(row, LIMIT, TINY, 0);
	print_ratio(row, LIMIT, FLOCK, 0.55);
	print_ratio(row, NOFORK, SETLOCK, 0.80);
	print_ratio(row, NOFORK, CHPST, 0.80);
	for (i = 0; i < ROWS; i++) {
		command_free(&row[i].first);
		command_free(&row[i].second);
		samples_free(&row[i].time);
	}
}

void
uncontended(const struct bench *b)
{
	int build;

	for (build = 0; build < BUILDS; build++)
		measure(b, build);
}
