/* SPDX-License-Identifier: ISC */
/*
 * store_crowd.c - many who wait: what they cost the server, and what it takes to let them all run.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "parked.h"
#include "report.h"
#include "samples.h"
#include "store.h"
#include "store_http.h"

#define WATCHED_S 10
#define MARK_NAME "FLOCKLIMIT_BENCH"

struct crowd {
	enum peer peer;
	int waiters;
	const char *ttl;                /* NULL: by default, 10 */
	double join_ms, drain_ms;       /* for each */
	double cpu, messages_s, rss_mb; /* of the server while all wait: of one core; per second */
	double waiter_pss_mb;
	struct traffic each; /* for each grant */
	struct samples gap;  /* ms */
	long disordered, overlapped;
};

static struct queue q;

/* Of all processes of a waiter, as they share little with others. */
static double
memory_of_waiters(int n)
{
	static pid_t pid[4 * MARKS];
	struct use use = { 0 };
	int all = marked(MARK_NAME, "crowd", pid, 4 * MARKS), i;

	for (i = 0; i < all; i++)
		parked_memory(pid[i], &use);
	return (double)use.pss_kb / 1024 / n;
}

static void
watch_them_wait(const struct stage *s, struct crowd *c, int seconds)
{
	struct traffic before, after;
	double cpu;

	peer_traffic(s, c->peer, &before);
	cpu = peer_cpu(s, c->peer);
	sleep((unsigned)seconds);
	c->cpu = (peer_cpu(s, c->peer) - cpu) / seconds;
	peer_traffic(s, c->peer, &after);
	c->messages_s = (after.messages - before.messages) / seconds;
	c->rss_mb = peer_memory_mb(s, c->peer);
	c->waiter_pss_mb = memory_of_waiters(q.count);
}

/* They came one after the other, so that their numbers are the order. */
static void
read_marks(struct crowd *c)
{
	const struct mark *before, *after;
	int i;

	for (i = 1; i < q.count; i++) {
		before = &q.m->at[i - 1];
		after = &q.m->at[i];
		c->disordered += after->start < before->start ||
				 (c->peer != ETCDCTL && after->ticket <= before->ticket);
		c->overlapped += after->start < before->end;
		samples_add(&c->gap, ((double)after->start - (double)before->end) / 1e6);
	}
}

static bool
measure(const struct bench *b, const struct stage *s, struct crowd *c)
{
	struct line line = { s, c->peer, c->peer == ETCDCTL ? "lock-crowd" : "crowd" };
	struct traffic before, after;
	struct command limiter;
	char mark[PATH_SIZE];
	uint64_t start;

	peer_command(&limiter, b, s, c->peer, line.name, c->ttl);
	if (!command_is_there(&limiter))
		return false;
	q.stands = peer_stands;
	q.of = &line;
	setenv(MARK_NAME, "crowd", 1);
	queue_begin(&q, &limiter, bench_command(b, "mark-small", mark));
	start = now_ns();
	queue_join(&q, c->waiters, true);
	c->join_ms = (double)(now_ns() - start) / 1e6 / c->waiters;
	unsetenv(MARK_NAME);
	watch_them_wait(s, c, b->quick ? 3 : WATCHED_S);
	peer_traffic(s, c->peer, &before);
	start = now_ns();
	queue_drain(&q);
	c->drain_ms = (double)(now_ns() - start) / 1e6 / c->waiters;
	peer_traffic(s, c->peer, &after);
	c->each.messages = (after.messages - before.messages) / c->waiters;
	c->each.events = (after.events - before.events) / c->waiters;
	c->each.syncs = (after.syncs - before.syncs) / c->waiters;
	read_marks(c);
	command_free(&limiter);
	return true;
}

static void
print(struct crowd *c)
{
	fprintf(report, "| %d | %s | %s | %.1f | %.1f | %.0f | %.0f | %.1f |", c->waiters,
		peer_label[c->peer], c->ttl != NULL ? c->ttl : "10", c->join_ms, c->cpu * 100,
		c->messages_s, c->rss_mb, c->waiter_pss_mb);
	fprintf(report, " %.1f | %.2f | %.2f | %.1f | %.1f | %.1f | %ld | %ld |\n", c->drain_ms,
		samples_median(&c->gap), samples_quantile(&c->gap, 0.99), c->each.messages,
		c->each.events, c->each.syncs, c->disordered, c->overlapped);
	samples_free(&c->gap);
}

void
store_crowd(const struct bench *b, const struct stage *s)
{
	struct crowd all[] = { { .peer = OURS, .waiters = 100 },
			       { .peer = POSTGRES, .waiters = 100 },
			       { .peer = OURS, .waiters = 200 },
			       { .peer = ETCDCTL, .waiters = 200 },
			       { .peer = OURS, .waiters = 1000, .ttl = "30" },
			       { .peer = OURS, .waiters = 2000, .ttl = "30" } };
	int n = b->quick ? 4 : (int)(sizeof(all) / sizeof(all[0])), i;

	fprintf(report, "\n### Many waiters, a process each\n");
	report_head("waiters|through|--ttl, s|ms to join the line, each|"
		    "while all wait: server, % of a core|messages/s|memory, MB|a waiter: PSS, MB|"
		    "to run all: ms each|hand-over: median, ms|p99|messages each|events each|"
		    "disk syncs each|out of order|overlapped");
	queue_open(&q);
	for (i = 0; i < n; i++) {
		if (b->quick)
			all[i].waiters = 50;
		if (measure(b, s, &all[i]))
			print(&all[i]);
	}
	queue_close(&q);
}
