/* SPDX-License-Identifier: ISC */
/*
 * weak.c - runs the scenarios as the sources are, and then with an atomic that is weaker than in the
 * source: a scenario must fail then, or the table says that the order is needless.
 *
 *	weak.t			every scenario with few deviations, and each line of the table that
 *				names a scenario
 *	weak.t -a		every scenario with more, and every atomic in every weaker order; the
 *				table must say the same
 *	weak.t -t [PART]	the same with few deviations, and prints a new table; or only the lines
 *				of the atomics whose names have that part
 *	weak.t -l		the scenarios
 *	weak.t -r SCENARIO CHOICES [ATOMIC ORDER]
 *				the execution that a failure printed, access by access
 */
#include "weaken.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "helpers/tap.h"

#define ENOUGH  20000 /* executions of a weakened atomic, with all deviations */
#define SECONDS 600   /* then the library itself loops */

/* What a child tells of the scenario that it has run. */
static struct result {
	char words[512], choices[2048];
	unsigned long executions;
	bool passed, whole;
	unsigned hits[ATOMICS];
} * result;

bool reached[ATOMICS][SCENARIOS];
static unsigned passed, wrong;

void *
share(size_t size)
{
	void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		tap_bail("mmap");
	return p;
}

void
begin_results(void)
{
	result = share(sizeof(*result));
}

void
report_failure(const char *words, const char *choices)
{
	snprintf(result->words, sizeof(result->words), "%s", words);
	snprintf(result->choices, sizeof(result->choices), "%s", choices);
	_exit(1);
}

/* Runs it in a child, which may crash where an atomic was weakened. */
bool
run(const struct scenario *s, unsigned deviations, unsigned long most, const char *replay)
{
	struct bounds bounds = { .deviations = deviations, .deaths = s->victim != 0 };
	unsigned i;
	int status;
	pid_t pid;

	memset(result, 0, sizeof(*result));
	fflush(stdout);
	if ((pid = fork()) == -1)
		tap_bail("fork");
	if (pid == 0) {
		alarm(SECONDS);
		memory_traces = replay != NULL;
		result->whole = explore(s, bounds, replay, most, &result->executions);
		for (i = 0; i < atomic_count; i++)
			result->hits[i] = orders_hits(&atomics[i]);
		fflush(stdout);
		_exit(0);
	}
	if (waitpid(pid, &status, 0) != pid)
		tap_bail("waitpid");
	if (WIFSIGNALED(status))
		snprintf(result->words, sizeof(result->words), "signal %d", WTERMSIG(status));
	return result->passed = status == 0;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void
count(bool good)
{
	passed += good;
	wrong += !good;
}

static bool
try_scenario(unsigned i, unsigned deviations, unsigned long most)
{
	const struct scenario *s = &scenarios[i];
	double began = seconds();
	bool good = run(s, deviations, most, NULL);
	unsigned a;

	for (a = 0; a < atomic_count; a++)
		reached[a][i] = result->hits[a] > 0;
	if (good)
		tap_note("%s: %lu executions with %u deviations, %.1f s", s->name,
			 result->executions, deviations, seconds() - began);
	else
		tap_note("%s; to repeat it: weak.t -r %s %s", result->words, s->name,
			 result->choices);
	return good;
}

/* ---- the two runs ---- */

static int
quick(void)
{
	unsigned i;

	for (i = 0; i < scenario_count; i++)
		ok(try_scenario(i, scenarios[i].quick, ULONG_MAX), "%s: %s", scenarios[i].name,
		   scenarios[i].words);
	check_table();
	check_listed();
	return tap_done();
}

static int
whole(bool print, const char *part)
{
	char line[512];
	unsigned i, a;
	bool good;

	for (i = 0; i < scenario_count; i++) {
		good = try_scenario(i, print ? scenarios[i].quick : scenarios[i].whole, ULONG_MAX);
		count(good);
		printf("%s %s: %s\n", good ? "passed" : "FAILED", scenarios[i].name,
		       scenarios[i].words);
	}
	weaken_all(part);
	for (a = 0; a < atomic_count; a++) {
		if (!is_reached(a) || !is_chosen(a, part))
			continue;
		print_line(line, sizeof(line), a);
		good = print || table_has(line);
		count(good);
		if (print || !good)
			printf("%s%s\n", print ? "" : "FAILED, not in tests/weak/table: ", line);
	}
	printf("%u passed, %u failed\n", passed, wrong);
	return wrong > 0;
}

static int
repeat(char **args)
{
	const struct scenario *s = args[0] != NULL ? scenario_named(args[0]) : NULL;
	const struct atomic *a;

	if (s == NULL || args[1] == NULL)
		tap_bail("usage: weak.t -r SCENARIO CHOICES [ATOMIC ORDER]");
	if (args[2] != NULL && args[3] != NULL && (a = orders_named(args[2])) != NULL)
		orders_set(a, order_named(args[3]));
	if (run(s, 0, 1, args[1]))
		return 0;
	printf("%s\n", result->words);
	return 1;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	unsigned i;

	begin_results();
	weaken_begin();
	orders_find();
	if (strcmp(what, "-r") == 0)
		return repeat(argv + 2);
	if (strcmp(what, "-a") == 0 || strcmp(what, "-t") == 0)
		return whole(strcmp(what, "-t") == 0, argc > 2 ? argv[2] : "");
	if (strcmp(what, "-l") != 0)
		return quick();
	for (i = 0; i < scenario_count; i++)
		printf("%-12s %s\n", scenarios[i].name, scenarios[i].words);
	return 0;
}
