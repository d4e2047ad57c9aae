/* SPDX-License-Identifier: ISC */
/*
 * store_handover.c - from the last statement of one command to the first of the next, with one
 * waiter behind it and with a line of them.
 */
#include <string.h>
#include <unistd.h>

#include "report.h"
#include "samples.h"
#include "store.h"
#include "store_http.h"

static const int depths[] = { 1, 50, 500 };

#define MOST_PROCESSES 100 /* of a PostgreSQL: each waiter has one of its own */

#define DEPTHS (int)(sizeof(depths) / sizeof(depths[0]))

struct cell {
	struct samples gap; /* ms */
	struct traffic all;
	int rounds, counted; /* so many hand-overs are in `all' */
	double cpu;          /* of the server, in seconds */
	long overtaken;      /* ran before somebody who came earlier */
	long overlapped;     /* began before the one before had ended */
};

static struct queue q;

static void
read_marks(struct cell *c)
{
	const struct mark *before, *after;
	int i;

	for (i = 1; i < q.count; i++) {
		before = &q.m->at[i - 1];
		after = &q.m->at[i];
		c->overtaken += after->start < before->start;
		c->overlapped += after->start < before->end;
		samples_add(&c->gap, ((double)after->start - (double)before->end) / 1e6);
	}
}

static void
once(const struct bench *b, const struct stage *s, enum peer p, int depth, struct cell *c)
{
	char mark[PATH_SIZE];
	struct line line = { s, p, p == ETCDCTL ? "lock-handover" : "handover" };
	/* Until a PostgreSQL tells what it counted, it takes seconds. */
	bool counts = p != POSTGRES || c->rounds++ < 3;
	struct traffic before, after;
	struct command limiter;

	peer_command(&limiter, b, s, p, line.name, NULL);
	if (!command_is_there(&limiter))
		return;
	q.stands = peer_stands;
	q.of = &line;
	queue_begin(&q, &limiter, bench_command(b, "mark-small", mark));
	queue_join(&q, depth, true);
	/* What the last ones do after they are in the line is no part of the hand-over. */
	usleep(300000);
	if (counts)
		peer_traffic(s, p, &before);
	c->cpu -= peer_cpu(s, p);
	queue_drain(&q);
	c->cpu += peer_cpu(s, p);
	if (counts) {
		peer_traffic(s, p, &after);
		c->counted += depth;
		c->all.messages += after.messages - before.messages;
		c->all.events += after.events - before.events;
		c->all.syncs += after.syncs - before.syncs;
	}
	read_marks(c);
	command_free(&limiter);
}

static void
print(int depth, enum peer p, struct cell *c)
{
	double n = (double)c->gap.count, counted = (double)c->counted;

	fprintf(report,
		"| %d | %s | %.2f | %.2f | %.0f | %.1f | %.1f | %.1f | %.2f | %ld | %ld |\n", depth,
		peer_label[p], samples_median(&c->gap), samples_quantile(&c->gap, 0.99), n,
		c->all.messages / counted, c->all.events / counted, c->all.syncs / counted,
		c->cpu * 1000 / n, c->overtaken, c->overlapped);
}

void
store_handover(const struct bench *b, const struct stage *s)
{
	static struct cell cell[DEPTHS][REDIS];
	int wanted = runs(b, s, 100), d, round;
	enum peer p;

	memset(cell, 0, sizeof(cell));
	queue_open(&q);
	for (d = 0; d < (b->quick ? DEPTHS - 1 : DEPTHS); d++)
		for (round = 0; round == 0 || round < wanted / depths[d]; round++)
			for (p = 0; p < REDIS; p++)
				if (p != POSTGRES || depths[d] <= MOST_PROCESSES)
					once(b, s, p, depths[d], &cell[d][p]);
	queue_close(&q);
	fprintf(report, "\n### Hand-over at limit 1: %s\n", s->title);
	report_head("waiters|through|median, ms|p99|hand-overs|messages each|events each|"
		    "disk syncs each|CPU of the server each, ms|overtaken|overlapped");
	for (d = 0; d < DEPTHS; d++)
		for (p = 0; p < REDIS; p++)
			if (cell[d][p].gap.count > 0) {
				print(depths[d], p, &cell[d][p]);
				samples_free(&cell[d][p].gap);
			}
}
