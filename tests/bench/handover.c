/* SPDX-License-Identifier: ISC */
/*
 * handover.c - from the last statement of one command to the first of the next, with a line
 * parked behind the first.
 */
#include "bench.h"

#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "queue.h"
#include "report.h"
#include "samples.h"

enum { FLOCK, LIMIT, NOFORK, PEERS };

static const int depths[] = { 1, 10, 100, 1000 };

#define DEPTHS (int)(sizeof(depths) / sizeof(depths[0]))

struct cell {
	struct samples gap; /* us */
	long overtaken;     /* ran before somebody who came earlier */
	long overlapped;    /* began before the one before had ended */
};

static struct command peer[PEERS];
static struct cell cell[BUILDS][DEPTHS][PEERS];
static struct queue q;

static const struct marks *sorting;

static int
by_start(const void *a, const void *b)
{
	uint64_t x = sorting->at[*(const int *)a].start, y = sorting->at[*(const int *)b].start;

	return x < y ? -1 : x > y;
}

static void
read_marks(struct cell *c, const struct marks *m, int count)
{
	int order[MARKS], i;

	for (i = 0; i < count; i++)
		order[i] = i;
	sorting = m;
	qsort(order, (size_t)count, sizeof(order[0]), by_start);
	for (i = 1; i < count; i++) {
		const struct mark *before = &m->at[order[i - 1]], *after = &m->at[order[i]];

		samples_add(&c->gap, ((double)after->start - (double)before->end) / 1e3);
		c->overtaken += order[i] < order[i - 1];
		c->overlapped += after->start < before->end;
	}
}

static void
once(const struct bench *b, int build, int depth, int p)
{
	char mark[PATH_SIZE];

	if (!command_is_there(&peer[p]))
		return;
	queue_begin(&q, &peer[p], bench_command(b, "mark", build, mark));
	queue_join(&q, depths[depth], true);
	queue_drain(&q);
	read_marks(&cell[build][depth][p], q.m, q.count);
}

static void
print(int build)
{
	double median[PEERS], goal = 0.8;
	int d, p;

	fprintf(report, "\n### 2. Hand-over at limit 1: %s\n", builds[build].title);
	report_head("waiters|peer|median, us|quartiles|hand-overs|of flock's|goal, at most|met|"
		    "overtaken|overlapped");
	for (d = 0; d < DEPTHS; d++)
		for (p = 0; p < PEERS; p++) {
			struct cell *c = &cell[build][d][p];

			if (c->gap.count == 0)
				continue;
			median[p] = samples_median(&c->gap);
			fprintf(
			    report, "| %d | %s | %.0f | %.0f to %.0f | %zu | %s | %ld | %ld |\n",
			    depths[d], peer[p].label, median[p], samples_quantile(&c->gap, 0.25),
			    samples_quantile(&c->gap, 0.75), c->gap.count,
			    report_goal(p == FLOCK || cell[build][d][FLOCK].gap.count == 0
					    ? 0
					    : median[p] / median[FLOCK],
					goal),
			    c->overtaken, c->overlapped);
		}
	report_head("deepest against 1 waiter|value|goal, at most|met");
	for (p = 0; p < PEERS; p++) {
		struct samples *shallow = &cell[build][0][p].gap, *deep = NULL;

		for (d = 1; d < DEPTHS; d++)
			if (cell[build][d][p].gap.count > 0)
				deep = &cell[build][d][p].gap;
		if (deep != NULL && shallow->count > 0)
			fprintf(report, "| %s | %s |\n", peer[p].label,
				report_goal(samples_median(deep) / samples_median(shallow),
					    p == FLOCK ? 0 : 1.1));
	}
}

void
handover(const struct bench *b)
{
	int wanted = b->quick ? 60 : 600, passes = b->quick ? 1 : 3;
	int pass, depth, round, rounds, build, i;
	char lock[PATH_SIZE];

	world_path(lock, "handover");
	command_make(&peer[FLOCK], "flock", "flock", lock, NULL);
	command_make(&peer[LIMIT], "flocklimit", b->program, "-n", "1", NULL);
	command_make(&peer[NOFORK], "flocklimit -F", b->program, "-F", "-N", "exec", "-n", "1",
		     NULL);
	queue_open(&q);
	for (pass = 0; pass < passes; pass++)
		for (depth = 0; depth < DEPTHS && (!b->quick || depths[depth] <= 100); depth++) {
			rounds = wanted / passes / depths[depth];
			for (round = 0; round == 0 || round < rounds; round++)
				for (i = 0; i < BUILDS * PEERS; i++)
					once(b, (i + round) % BUILDS, depth,
					     (i / BUILDS + round + pass) % PEERS);
		}
	for (build = 0; build < BUILDS; build++)
		print(build);
	queue_close(&q);
}
