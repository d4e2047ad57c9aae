/* SPDX-License-Identifier: ISC */
/*
 * runs.c - histories one after another, until one breaks a law: that one is run again, for its trace.
 */
#include "runs.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim.h"

#define LAST_LINES 60
#define LINE       256

bool runs_trace;

static char last[LAST_LINES][LINE];
static unsigned lines;

void
trace(const char *words, ...)
{
	char *line = last[lines % LAST_LINES];
	va_list args;
	int n;

	if (!sim.tracing)
		return;
	n = snprintf(line, LINE, "%9.3f ", (double)(true_ns - 1000 * SECOND) / 1e9);
	va_start(args, words);
	vsnprintf(line + n, LINE - (size_t)n, words, args);
	va_end(args);
	lines++;
	if (runs_trace)
		printf("# %s\n", line);
}

static void
show_last(void)
{
	unsigned i = lines > LAST_LINES ? lines - LAST_LINES : 0;

	for (; !runs_trace && i < lines; i++)
		printf("# %s\n", last[i % LAST_LINES]);
}

static void
run(uint64_t seed, unsigned takers, bool tracing)
{
	struct plan p = takers != 0 ? plan_of_many(seed, takers) : plan_of(seed);

	if (error != NULL && error->plan != NULL)
		error->plan(&p);
	sim.tracing = tracing;
	lines = 0;
	history_run(&p);
}

/* Where the protocol ends the program, by an assertion or a fault, the seed must be known. */
static volatile uint64_t at_seed;

static void
crashed(int sig)
{
	char text[80];
	int n = snprintf(text, sizeof(text), "# signal %d in the history of --seed %llu\n", sig,
			 (unsigned long long)at_seed);

	signal(sig, SIG_DFL);
	if (write(STDOUT_FILENO, text, (size_t)n) == n)
		raise(sig);
	_exit(1);
}

bool
runs_go(uint64_t seed, uint64_t histories, unsigned takers, struct runs *r)
{
	*r = (struct runs){ .law = NULL };
	signal(SIGABRT, crashed);
	signal(SIGSEGV, crashed);
	for (; r->histories < histories; r->histories++) {
		at_seed = seed + r->histories;
		run(at_seed, takers, runs_trace);
		r->grants += sim.grants;
		r->refusals += sim.refusals;
		r->losses += sim.losses;
		r->kills += sim.kills;
		r->steps += sim.steps;
		if (sim.broken != NULL)
			break;
	}
	r->law = sim.broken;
	r->seed = at_seed;
	snprintf(r->why, sizeof(r->why), "%s", sim.why);
	return r->law == NULL;
}

void
runs_show(const struct runs *r, unsigned takers)
{
	if (!runs_trace)
		run(r->seed, takers, true);
	show_last();
	printf("# --seed %llu breaks the law %s: %s\n", (unsigned long long)r->seed, r->law->name,
	       r->why);
}
