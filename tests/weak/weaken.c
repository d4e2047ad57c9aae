/* SPDX-License-Identifier: ISC */
/*
 * weaken.c - finds for each atomic the weakest order that no scenario minds.
 */
#include "weaken.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include "helpers/tap.h"

#define PACK 12 /* atomics that are weakened at once, at first */

/* Of an atomic: for each weaker order the scenario that fails, or -1. */
static struct finding {
	int by[4];
	bool done;
} * findings;

void
weaken_begin(void)
{
	findings = share(ATOMICS * sizeof(*findings));
}

bool
is_reached(unsigned a)
{
	unsigned i;

	for (i = 0; i < scenario_count; i++)
		if (reached[a][i])
			return true;
	return false;
}

bool
is_chosen(unsigned a, const char *part)
{
	return strstr(atomics[a].name, part) != NULL;
}

/* Some atomics, and how much weaker each is to be: 0 is the weakest. */
struct some {
	const unsigned *list;
	unsigned count, step;
};

static bool
some_reach(const struct some *some, unsigned scenario)
{
	unsigned k;

	for (k = 0; k < some->count; k++)
		if (reached[some->list[k]][scenario])
			return true;
	return false;
}

/* The first scenario that fails with all of them weaker, or -1. */
static int
find_failure(const struct some *some)
{
	int was[ATOMICS], below[4], by = -1;
	unsigned k, i;

	for (k = 0; k < some->count; k++) {
		was[k] = orders_get(&atomics[some->list[k]]);
		orders_below(&atomics[some->list[k]], below);
		orders_set(&atomics[some->list[k]], below[some->step]);
	}
	for (i = 0; i < scenario_count && by == -1; i++)
		if (some_reach(some, i) && !run(&scenarios[i], scenarios[i].quick, ULONG_MAX, NULL))
			by = (int)i;
	for (k = 0; k < some->count; k++)
		orders_set(&atomics[some->list[k]], was[k]);
	return by;
}

/*
 * What no scenario minds in many, it does not mind in each: weaker orders only add executions.  Where
 * one does mind, it is each half's turn.  An order that is weak enough ends it: no scenario minds the
 * stronger ones.
 */
static void
weaken(const struct some *some)
{
	unsigned a = some->list[0], half = some->count / 2, k;
	int by = find_failure(some), below[4];

	orders_below(&atomics[a], below);
	tap_note("%s%s, %s: %s", atomics[a].name, some->count > 1 ? " and more" : "",
		 order_name(below[some->step]),
		 by == -1 ? "no scenario minds" : scenarios[by].name);
	for (k = 0; k < some->count && by == -1; k++) {
		findings[some->list[k]].by[some->step] = -1;
		findings[some->list[k]].done = true;
	}
	if (by == -1)
		return;
	if (some->count > 1) {
		weaken(&(struct some){ some->list, half, some->step });
		weaken(&(struct some){ some->list + half, some->count - half, some->step });
		return;
	}
	findings[a].by[some->step] = by;
	findings[a].done = some->step + 1 == orders_below(&atomics[a], below);
	if (!findings[a].done)
		weaken(&(struct some){ some->list, 1, some->step + 1 });
}

/* On all processors, a dozen at a time. */
void
weaken_all(const char *part)
{
	long most = sysconf(_SC_NPROCESSORS_ONLN), busy = 0;
	unsigned list[ATOMICS], count = 0, a, from;
	int below[4];

	for (a = 0; a < atomic_count; a++)
		if (is_reached(a) && is_chosen(a, part) && orders_below(&atomics[a], below) > 0)
			list[count++] = a;
	for (from = 0; from < count; from += PACK) {
		if (busy == most && wait(NULL) > 0)
			busy--;
		fflush(stdout);
		if (fork() == 0) {
			begin_results();
			weaken(&(struct some){ list + from,
					       count - from < PACK ? count - from : PACK, 0 });
			_exit(0);
		}
		busy++;
	}
	while (wait(NULL) > 0)
		;
}

/* The weakest order that no scenario minds. */
int
needed(unsigned a)
{
	int below[4];
	unsigned k, n = findings[a].done ? orders_below(&atomics[a], below) : 0;

	for (k = 0; k < n; k++)
		if (findings[a].by[k] == -1)
			return below[k];
	return orders_get(&atomics[a]);
}

/* A line of the table: name, order, what is needed, and for each order that fails the scenario. */
void
print_line(char *line, size_t size, unsigned a)
{
	int below[4];
	unsigned k, n = orders_below(&atomics[a], below);
	size_t at;

	at = (size_t)snprintf(line, size, "%s\t%s\t%s\t", atomics[a].name,
			      order_name(orders_get(&atomics[a])), order_name(needed(a)));
	for (k = 0; k < n && findings[a].by[k] != -1; k++)
		at += (size_t)snprintf(line + at, size - at, "%s%s: %s", k > 0 ? ", " : "",
				       order_name(below[k]), scenarios[findings[a].by[k]].name);
	if (k == 0)
		snprintf(line + at, size - at, "-");
}
