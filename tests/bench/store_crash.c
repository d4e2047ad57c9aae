/* SPDX-License-Identifier: ISC */
/*
 * store_crash.c - from the death of a holder to the next command: when its machine dies, and when
 * only the wrapper does.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/wait.h>

#include "report.h"
#include "samples.h"
#include "store.h"

#define PAIRS     8
#define TTLS      3
#define MARK_NAME "FLOCKLIMIT_BENCH"

static const char *const ttls[TTLS] = { "3", "6", "10" };

/* A holder and one who waits behind it. */
struct pair {
	struct queue q;
	struct line line;
	struct command limiter;
	char name[64]; /* of the limiter, and in the environment of all that is the holder's */
	enum peer peer;
	int ttl;         /* an index */
	uint64_t due;    /* when its holder dies */
	uint64_t killed; /* when it did */
};

static struct pair pair[REDIS * TTLS * PAIRS];
static int pairs;

static void
begin(const struct bench *b, const struct stage *s, struct pair *p)
{
	char mark[PATH_SIZE];

	snprintf(p->name, sizeof(p->name), "crash-%d", (int)(p - pair));
	p->line = (struct line){ s, p->peer, p->name };
	peer_command(&p->limiter, b, s, p->peer, p->name, ttls[p->ttl]);
	queue_open(&p->q);
	p->q.stands = peer_stands;
	p->q.of = &p->line;
	setenv(MARK_NAME, p->name, 1);
	queue_begin(&p->q, &p->limiter, bench_command(b, "mark-small", mark));
	unsetenv(MARK_NAME);
	queue_join(&p->q, 1, true);
}

static void
end(struct pair *p)
{
	waitpid(p->q.pid[0], NULL, 0);
	command_finish(p->q.pid[1], p->limiter.label);
	queue_close(&p->q);
	command_free(&p->limiter);
}

/* As if its machine was switched off: none of them can do anything about the end of another. */
static void
kill_all(struct pair *p)
{
	pid_t pid[16];
	int n = marked(MARK_NAME, p->name, pid, 16), i;

	for (i = 0; i < n; i++)
		kill(pid[i], SIGSTOP);
	for (i = 0; i < n; i++)
		kill(pid[i], SIGKILL);
	p->killed = now_ns();
}

static void
sleep_until(uint64_t ns)
{
	struct timespec t = { .tv_sec = (time_t)(ns / 1000000000u),
			      .tv_nsec = (long)(ns % 1000000000u) };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL) == EINTR)
		;
}

static int
by_due(const void *a, const void *b)
{
	uint64_t x = (*(struct pair *const *)a)->due, y = (*(struct pair *const *)b)->due;

	return x < y ? -1 : x > y;
}

/* Each dies at another point between two of its renewals. */
static void
kill_in_turn(void)
{
	struct pair *order[REDIS * TTLS * PAIRS];
	uint64_t now = now_ns();
	int i;

	for (i = 0; i < pairs; i++) {
		order[i] = &pair[i];
		pair[i].due = now + (uint64_t)(atoi(ttls[pair[i].ttl])) * 1000000000u / 3 *
					(uint64_t)(PAIRS + i % PAIRS) / PAIRS;
	}
	qsort(order, (size_t)pairs, sizeof(order[0]), by_due);
	for (i = 0; i < pairs; i++) {
		sleep_until(order[i]->due);
		kill_all(order[i]);
	}
}

static void
print_row(const char *label, const char *ttl, struct samples *s)
{
	if (s->count > 0)
		fprintf(report, "| %s | %s | %.2f | %.2f | %.2f | %zu |\n", label, ttl,
			samples_quantile(s, 0), samples_median(s), samples_quantile(s, 1),
			s->count);
	samples_free(s);
}

static void
machine_dies(const struct bench *b, const struct stage *s)
{
	int each = b->quick ? 2 : PAIRS, ttl, i, peer;
	struct samples time[REDIS][TTLS] = { 0 };

	pairs = 0;
	for (ttl = 0; ttl < (b->quick ? 1 : TTLS); ttl++)
		for (peer = 0; peer < REDIS; peer++)
			for (i = 0; i < each; i++) {
				pair[pairs] = (struct pair){ .peer = peer, .ttl = ttl };
				peer_command(&pair[pairs].limiter, b, s, peer, "x", NULL);
				if (!command_is_there(&pair[pairs].limiter))
					continue;
				command_free(&pair[pairs].limiter);
				begin(b, s, &pair[pairs++]);
			}
	kill_in_turn();
	for (i = 0; i < pairs; i++) {
		queue_await(&pair[i].q, 1);
		samples_add(&time[pair[i].peer][pair[i].ttl],
			    ((double)pair[i].q.m->at[1].start - (double)pair[i].killed) / 1e9);
		end(&pair[i]);
	}
	fprintf(report, "\n### The holder's machine dies: until the next command runs\n");
	report_head("through|--ttl, s|shortest, s|median, s|longest, s|runs");
	for (peer = 0; peer < REDIS; peer++)
		for (ttl = 0; ttl < TTLS; ttl++)
			print_row(peer_label[peer], ttls[ttl], &time[peer][ttl]);
}

/* ---- the wrapper alone ---- */

struct widow {
	struct samples gap; /* ms, from the command's end to the next one's start */
	long early;         /* the next one began while it ran */
};

/* The command goes on: the next one may begin when it has ended, and then at once. */
static void
wrapper_dies(const struct bench *b, const struct stage *s, enum peer peer, struct widow *w)
{
	struct pair *p = &pair[0];
	const struct mark *at;

	*p = (struct pair){ .peer = peer, .ttl = 0 };
	begin(b, s, p);
	at = p->q.m->at;
	kill(p->q.pid[0], SIGKILL);
	/* Longer than the server keeps a lease that nobody renews. */
	sleep_until(now_ns() + UINT64_C(6000000000));
	if (at[1].start != 0) {
		w->early++;
		queue_release(&p->q);
	} else {
		queue_release(&p->q);
		queue_await(&p->q, 2);
		samples_add(&w->gap, ((double)at[1].start - (double)at[0].end) / 1e6);
	}
	end(p);
}

void
store_crash(const struct bench *b, const struct stage *s)
{
	struct widow w[REDIS] = { 0 };
	int rounds = b->quick ? 1 : 5, peer, i;
	struct command c;

	machine_dies(b, s);
	for (peer = 0; peer < REDIS; peer++) {
		peer_command(&c, b, s, peer, "x", NULL);
		for (i = 0; i < rounds && command_is_there(&c); i++)
			wrapper_dies(b, s, peer, &w[peer]);
		command_free(&c);
	}
	fprintf(report, "\n### The wrapper alone is killed, its command goes on for 6 s, --ttl 3: "
			"from the command's end to the next one's start\n");
	report_head("through|median, ms|longest|runs|the next command began too early");
	for (peer = 0; peer < REDIS; peer++)
		if (w[peer].gap.count + (size_t)w[peer].early > 0) {
			if (w[peer].gap.count > 0)
				fprintf(report, "| %s | %.2f | %.2f | ", peer_label[peer],
					samples_median(&w[peer].gap),
					samples_quantile(&w[peer].gap, 1));
			else
				fprintf(report, "| %s | - | - | ", peer_label[peer]);
			fprintf(report, "%zu | %ld |\n", w[peer].gap.count + (size_t)w[peer].early,
				w[peer].early);
			samples_free(&w[peer].gap);
		}
}
