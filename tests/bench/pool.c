/* SPDX-License-Identifier: ISC */
/*
 * pool.c - a list of commands through xargs: 64 limiters at a time, of which a few may run.
 */
#include "bench.h"

#include <stdlib.h>

#include "process.h"
#include "report.h"
#include "samples.h"

enum { BARE, FLOCK, ONE, FOUR, SEM, PEERS };

struct peer {
	struct command xargs;
	int share; /* runs 1/share of the list */
	double goal;
	struct samples time; /* ms, for the whole list */
};

static const char *
make_list(const char *name, int lines, char path[PATH_SIZE])
{
	FILE *f = fopen(world_path(path, name), "we");
	int i;

	for (i = 0; f != NULL && i < lines; i++)
		fprintf(f, "%d\n", i);
	if (f == NULL || fclose(f) != 0)
		die("%s: cannot write", path);
	return path;
}

static void
make_peers(const struct bench *b, struct peer *p, const char *x)
{
	char lock[PATH_SIZE];
	struct command program;

	command_make(&p[BARE].xargs, "no limiter, -P4", "xargs", "-P4", "-n1", x, NULL);
	command_make(&program, "flock", "flock", NULL);
	if (command_is_there(&program))
		command_make(&p[FLOCK].xargs, "flock (N = 1)", "xargs", "-P64", "-n1",
			     program.word[0], world_path(lock, "pool"), x, NULL);
	command_free(&program);
	command_make(&p[ONE].xargs, "flocklimit -n 1", "xargs", "-P64", "-n1", b->program, "-N",
		     "one", "-n", "1", x, NULL);
	command_make(&p[FOUR].xargs, "flocklimit -n 4", "xargs", "-P64", "-n1", b->program, "-n",
		     "4", x, NULL);
	command_make(&program, "sem", "sem", NULL);
	if (command_is_there(&program))
		command_make(&p[SEM].xargs, "sem --fg -j 4", "xargs", "-P64", "-n1",
			     program.word[0], "--will-cite", "--fg", "--id", "bench", "-j", "4", x,
			     NULL);
	command_free(&program);
	p[SEM].share = 40;
	p[FOUR].goal = 0.6;
}

static void
run(struct peer *p, const char *list)
{
	uint64_t start = now_ns();

	command_finish(command_start(&p->xargs, list), p->xargs.label);
	samples_add(&p->time, (double)(now_ns() - start) / 1e6 * (p->share > 0 ? p->share : 1));
}

void
pool(const struct bench *b)
{
	struct peer p[PEERS] = { 0 };
	int lines = b->quick ? 400 : 2000, rounds = b->quick ? 1 : 5, round, i, k;
	char x[PATH_SIZE], path[PATH_SIZE], path_few[PATH_SIZE];
	const char *list, *few;
	double flock, ms;

	make_peers(b, p, bench_command(b, "noop", 0, x));
	list = make_list("list", lines, path);
	few = make_list("few", lines / 40, path_few);
	for (round = 0; round < rounds; round++)
		for (i = 0; i < PEERS; i++) {
			k = (i + round) % PEERS;
			if (!command_is_there(&p[k].xargs) || (k == SEM && round > 0))
				continue;
			run(&p[k], p[k].share > 0 ? few : list);
		}
	fprintf(report, "\n### 3. A list of %d no-ops through xargs -P64\n", lines);
	report_head("through|median, ms|fastest to slowest|lists|of flock's|goal, at most|met");
	flock = samples_median(&p[FLOCK].time);
	for (i = 0; i < PEERS; i++) {
		if (p[i].time.count == 0)
			continue;
		ms = samples_median(&p[i].time);
		fprintf(report, "| %s%s | %.0f | %.0f to %.0f | %zu | %s |\n", p[i].xargs.label,
			p[i].share > 0 ? ", scaled from a 40th" : "", ms,
			samples_quantile(&p[i].time, 0), samples_quantile(&p[i].time, 1),
			p[i].time.count,
			report_goal(i != FLOCK && flock > 0 ? ms / flock : 0, p[i].goal));
		command_free(&p[i].xargs);
		samples_free(&p[i].time);
	}
}
