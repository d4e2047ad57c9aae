/* SPDX-License-Identifier: ISC */
/*
 * store_alone.c - a command for which there is room: what does the limiter add to it?
 */
#include <unistd.h>

#include "report.h"
#include "samples.h"
#include "store.h"
#include "store_http.h"

/* First without any limiter, and with one of this machine. */
enum { NONE, HERE, FIRST, ROWS = FIRST + PEERS };

struct row {
	struct command command;
	struct samples time; /* ms */
	struct traffic each; /* for one run */
};

static void
make_rows(const struct bench *b, const struct stage *s, struct row row[ROWS])
{
	char noop[PATH_SIZE];
	enum peer p;

	bench_command(b, "noop-small", noop);
	command_make(&row[NONE].command, "no limiter", noop, NULL);
	command_make(&row[HERE].command, "flocklimit", b->program, "-n", "1", noop, NULL);
	for (p = 0; p < PEERS; p++) {
		struct command *c = &row[FIRST + p].command;

		peer_command(c, b, s, p, p == ETCDCTL ? "lock-alone" : "alone", NULL);
		if (command_is_there(c))
			command_add(c, noop);
	}
}

/* What a run asks of the server, also what it leaves to be done after it has ended. */
static void
count_traffic(const struct stage *s, enum peer p, struct row *r, int times)
{
	struct traffic before, after;
	int i;

	peer_traffic(s, p, &before);
	for (i = 0; i < times; i++)
		command_time(&r->command);
	usleep(300000);
	peer_traffic(s, p, &after);
	r->each.messages = (after.messages - before.messages) / times;
	r->each.events = (after.events - before.events) / times;
	r->each.syncs = (after.syncs - before.syncs) / times;
}

static void
print(const struct stage *s, struct row row[ROWS])
{
	int i;

	fprintf(report, "\n### Uncontended, whole process: %s\n", s->title);
	report_head("run|median, ms|p99|runs|messages to the server|disk syncs");
	for (i = 0; i < ROWS; i++) {
		struct row *r = &row[i];

		if (r->time.count == 0)
			continue;
		fprintf(report, "| %s | %.2f | %.2f | %zu | ", r->command.label,
			samples_median(&r->time), samples_quantile(&r->time, 0.99), r->time.count);
		if (r->each.messages > 0)
			fprintf(report, "%.1f | %.1f |\n", r->each.messages, r->each.syncs);
		else
			fprintf(report, "- | - |\n");
	}
}

void
store_alone(const struct bench *b, const struct stage *s)
{
	int rounds = runs(b, s, 200), round, i;
	struct row row[ROWS] = { 0 };
	uint64_t ns;

	make_rows(b, s, row);
	for (round = -3; round < rounds; round++)
		for (i = 0; i < ROWS; i++) {
			struct row *r = &row[(i + round + ROWS) % ROWS];

			if (!command_is_there(&r->command))
				continue;
			ns = command_time(&r->command);
			if (round >= 0)
				samples_add(&r->time, (double)ns / 1e6);
		}
	for (i = FIRST; i < FIRST + REDIS; i++)
		if (command_is_there(&row[i].command))
			count_traffic(s, (enum peer)(i - FIRST), &row[i], 20);
	print(s, row);
	for (i = 0; i < ROWS; i++) {
		command_free(&row[i].command);
		samples_free(&row[i].time);
	}
}
