/* SPDX-License-Identifier: ISC */
/*
 * map.c - a long list of no-ops, two at a time: flockmap beside xargs and GNU parallel; and what
 * flockmap needs for ten times as many.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "process.h"
#include "report.h"
#include "samples.h"

enum { XARGS, MAP, DONE, NONE, PARALLEL, PEERS };

struct peer {
	struct command command;
	int share; /* runs 1/share of the list */
	struct samples time;
	double goal; /* of xargs' time */
};

static const char *
write_list(const char *name, int lines, char path[PATH_SIZE])
{
	FILE *f = fopen(world_path(path, name), "we");
	int i;

	for (i = 0; f != NULL && i < lines; i++)
		fprintf(f, "%d\n", i);
	if (f == NULL || fclose(f) != 0)
		die("%s: cannot write", path);
	return path;
}

/* flockmap is where flocklimit is. */
static const char *
find_map(const struct bench *b, char path[PATH_SIZE])
{
	const char *slash = strrchr(b->program, '/');

	if (snprintf(path, PATH_SIZE, "%.*sflockmap",
		     slash != NULL ? (int)(slash + 1 - b->program) : 0, b->program) >= PATH_SIZE)
		die("%s: path too long", b->program);
	return path;
}

static void
make_peers(struct peer *p, const char *map, const char *x)
{
	command_make(&p[XARGS].command, "xargs -P2 -n1", "xargs", "-P2", "-n1", x, NULL);
	command_make(&p[MAP].command, "flockmap -n 2", map, "-n", "2", x, NULL);
	command_make(&p[DONE].command, "flockmap -n 2 --order=done", map, "-n", "2", "--order=done",
		     x, NULL);
	command_make(&p[NONE].command, "flockmap -n 2 --order=none", map, "-n", "2", "--order=none",
		     x, NULL);
	command_make(&p[PARALLEL].command, "parallel -j2", "parallel", "--will-cite", "-j2", x,
		     NULL);
	p[XARGS].share = p[MAP].share = p[DONE].share = p[NONE].share = 1;
	p[PARALLEL].share = 20;
	p[MAP].goal = 1.1;
}

static void
compare(const struct bench *b, const char *map, const char *x)
{
	struct peer p[PEERS] = { 0 };
	int lines = b->quick ? 2000 : 10000, rounds = b->quick ? 1 : 3, round, i, k;
	char path[PATH_SIZE], path_few[PATH_SIZE];
	const char *list = write_list("items", lines, path);
	const char *few = write_list("few-items", lines / 20, path_few);
	double xargs, ms;
	uint64_t start;

	make_peers(p, map, x);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < PEERS; i++) {
			k = (i + round) % PEERS;
			if (!command_is_there(&p[k].command) || (k == PARALLEL && round > 1))
				continue;
			start = now_ns();
			command_finish(command_start(&p[k].command, p[k].share > 1 ? few : list),
				       p[k].command.label);
			samples_add(&p[k].time, (double)(now_ns() - start) / 1e6 * p[k].share);
		}
	fprintf(report, "\n### 7. %d no-ops, two at a time\n", lines);
	report_head("through|median, ms|fastest to slowest|lists|of xargs'|goal, at most|met");
	xargs = samples_median(&p[XARGS].time);
	for (i = 0; i < PEERS; i++) {
		if (p[i].time.count == 0)
			continue;
		ms = samples_median(&p[i].time);
		fprintf(report, "| %s%s | %.0f | %.0f to %.0f | %zu | %s |\n", p[i].command.label,
			p[i].share > 1 ? ", scaled from a 20th" : "", ms,
			samples_quantile(&p[i].time, 0), samples_quantile(&p[i].time, 1),
			p[i].time.count,
			report_goal(i != XARGS && xargs > 0 ? ms / xargs : 0, p[i].goal));
	}
	ms = samples_median(&p[PARALLEL].time);
	if (ms > 0)
		fprintf(report,
			"\nflockmap took %.3f of GNU parallel's time (goal: 0.1 at most).\n",
			samples_median(&p[MAP].time) / ms);
	for (i = 0; i < PEERS; i++) {
		command_free(&p[i].command);
		samples_free(&p[i].time);
	}
}

/* Its largest resident set, in kB. */
static long
peak(struct command *c, const char *list)
{
	struct rusage used = { .ru_maxrss = 0 };
	pid_t pid = command_start(c, list);
	int status;

	while (wait4(pid, &status, 0, &used) == -1)
		if (errno != EINTR)
			die("%s: wait: %s", c->label, strerror(errno));
	if (status != 0)
		die("%s: failed, wait status %#x", c->label, (unsigned)status);
	return used.ru_maxrss;
}

void
map(const struct bench *b)
{
	char program[PATH_SIZE], x[PATH_SIZE], path[PATH_SIZE], name[32];
	struct command c;
	int lines;

	find_map(b, program);
	compare(b, program, bench_command(b, "noop", 0, x));
	command_make(&c, "flockmap -n 2", program, "-n", "2", bench_command(b, "noop", 1, x), NULL);
	fprintf(report, "\n### 7b. Memory of flockmap -n 2\n");
	report_head("items|largest resident set, kB");
	for (lines = b->quick ? 1000 : 10000; lines <= (b->quick ? 10000 : 100000); lines *= 10) {
		snprintf(name, sizeof(name), "items-%d", lines);
		fprintf(report, "| %d | %ld |\n", lines, peak(&c, write_list(name, lines, path)));
	}
	command_free(&c);
}
