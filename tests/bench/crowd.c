/* SPDX-License-Identifier: ISC */
/*
 * crowd.c - many who wait: what they use, and whether all of them get their turn.
 */
#include "bench.h"

#include <unistd.h>

#include "parked.h"
#include "process.h"
#include "queue.h"
#include "report.h"

#define FEW       100
#define WATCHED_S 3

static struct queue q;

void
memory(const struct bench *b)
{
	struct use use[3] = { { 0 } };
	char mark[PATH_SIZE], lock[PATH_SIZE];
	struct command peer[3];
	int p, i;

	command_make(&peer[0], "flock", "flock", world_path(lock, "memory"), NULL);
	command_make(&peer[1], "flocklimit", b->program, "-n", "1", NULL);
	command_make(&peer[2], "flocklimit -F", b->program, "-F", "-N", "exec", "-n", "1", NULL);
	fprintf(report, "\n### 4. Memory of a parked waiter, mean of %d\n", FEW);
	report_head("peer|PSS, KiB|private, KiB|PSS, of flock's|goal, at most|met|"
		    "private, of flock's|goal, at most|met");
	queue_open(&q);
	bench_command(b, "mark", 0, mark);
	for (p = 0; p < 3; p++) {
		if (!command_is_there(&peer[p]))
			continue;
		queue_begin(&q, &peer[p], mark);
		queue_join(&q, FEW, false);
		for (i = 1; i <= FEW; i++)
			parked_memory(q.pid[i], &use[p]);
		queue_drain(&q);
		fprintf(report, "| %s | %.0f | %.0f | ", peer[p].label, (double)use[p].pss_kb / FEW,
			(double)use[p].private_kb / FEW);
		fprintf(report, "%s | ",
			report_goal(p > 0 && use[0].pss_kb > 0
					? (double)use[p].pss_kb / (double)use[0].pss_kb
					: 0,
				    0.5));
		fprintf(report, "%s |\n",
			report_goal(p > 0 && use[0].private_kb > 0
					? (double)use[p].private_kb / (double)use[0].private_kb
					: 0,
				    0.5));
		command_free(&peer[p]);
	}
	queue_close(&q);
}

/* ---- thousands ---- */

static struct use
use_of_all(void)
{
	struct use use = { 0 };
	int i;

	for (i = 0; i < q.count; i++)
		parked_cpu(q.pid[i], &use);
	return use;
}

/* How many ran before one with a smaller ticket, or before the one before had ended. */
static void
find_disorder(int n, int *overtaken, int *overlapped)
{
	static int by_ticket[2 * MARKS];
	const struct mark *before, *after;
	uint64_t first = UINT64_MAX;
	int i, last = -1;

	*overtaken = *overlapped = 0;
	for (i = 0; i < n; i++)
		if (q.m->at[i].ticket < first)
			first = q.m->at[i].ticket;
	for (i = 0; i < 2 * MARKS; i++)
		by_ticket[i] = -1;
	for (i = 0; i < n; i++)
		if (q.m->at[i].ticket - first < 2 * MARKS)
			by_ticket[q.m->at[i].ticket - first] = i;
		else
			++*overtaken;
	for (i = 0; i < 2 * MARKS; i++) {
		if (by_ticket[i] == -1)
			continue;
		if (last != -1) {
			before = &q.m->at[last];
			after = &q.m->at[by_ticket[i]];
			*overtaken += after->start < before->start;
			*overlapped += after->start < before->end;
		}
		last = by_ticket[i];
	}
}

void
crowd(const struct bench *b)
{
	int n = b->quick ? 1000 : MARKS - 1, overtaken, overlapped;
	char mark[PATH_SIZE];
	uint64_t start, parked, released, drained;
	struct command limiter;
	struct use before, after;

	command_make(&limiter, "flocklimit", b->program, "-n", "1", NULL);
	queue_open(&q);
	queue_begin(&q, &limiter, bench_command(b, "mark", 0, mark));
	start = now_ns();
	queue_join(&q, n, false);
	parked = now_ns();
	before = use_of_all();
	sleep(WATCHED_S);
	after = use_of_all();
	released = now_ns();
	queue_drain(&q);
	drained = now_ns();
	find_disorder(q.count, &overtaken, &overlapped);
	fprintf(report, "\n### 5. %d waiters\n", n);
	report_head("what|measured|wanted");
	fprintf(report, "| time to start and park them, s | %.2f | - |\n",
		(double)(parked - start) / 1e9);
	fprintf(report, "| CPU time of all together in %d s parked, ms | %.3f | 0 |\n", WATCHED_S,
		(double)(after.cpu_ns - before.cpu_ns) / 1e6);
	fprintf(report, "| times that any of them ran in %d s parked | %llu | 0 |\n", WATCHED_S,
		(unsigned long long)(after.switches - before.switches));
	fprintf(report, "| time to drain, s | %.2f | - |\n", (double)(drained - released) / 1e9);
	fprintf(report, "| time to drain, us for each | %.0f | - |\n",
		(double)(drained - released) / 1e3 / n);
	fprintf(report, "| overtaken | %d | 0 |\n| overlapped | %d | 0 |\n", overtaken, overlapped);
	queue_close(&q);
	command_free(&limiter);
}
