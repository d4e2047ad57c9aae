/* SPDX-License-Identifier: ISC */
/*
 * table.c - tests/weak/table: what was found for each atomic.
 */
#include "weaken.h"

#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "helpers/tap.h"

static FILE *
open_table(void)
{
	const char *source = getenv("TESTS_SOURCE");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/weak/table", source != NULL ? source : "tests");
	if ((f = fopen(path, "r")) == NULL)
		tap_bail("%s", path);
	return f;
}

/* The name ends before the sixth word. */
static char *
end_name(char *line)
{
	char *p = line;
	unsigned i;

	for (i = 0; i < 5 && p != NULL; i++)
		p = strchr(p + (i > 0), '\t');
	if (p == NULL)
		return NULL;
	*p = '\0';
	return p + 1;
}

int
order_named(const char *name)
{
	int order;

	for (order = NONE; order <= memory_order_seq_cst; order++)
		if (strcmp(order_name(order), name) == 0)
			return order;
	return NONE;
}

const struct scenario *
scenario_named(const char *name)
{
	unsigned i;

	for (i = 0; i < scenario_count; i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	return NULL;
}

/* "relaxed: lock, acquire: wait": the last pair is the one that is hardest to find. */
static bool
still_fails(const struct atomic *a, const char *pairs)
{
	const char *last = strrchr(pairs, ',');
	const struct scenario *s;
	char order[16], name[32];
	int was = orders_get(a);
	bool fails;

	if (sscanf(last != NULL ? last + 2 : pairs, "%15[^:]: %31s", order, name) != 2 ||
	    (s = scenario_named(name)) == NULL)
		return false;
	orders_set(a, order_named(order));
	fails = !run(s, s->quick, ULONG_MAX, NULL);
	orders_set(a, was);
	return fails;
}

static bool listed[ATOMICS];

/* Each atomic that the table says is needed: a scenario fails where it is weaker. */
void
check_table(void)
{
	char line[512], *rest, *pairs;
	FILE *table = open_table();
	const struct atomic *a;

	while (fgets(line, sizeof(line), table) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || (rest = end_name(line)) == NULL)
			continue;
		if ((a = orders_named(line)) == NULL) {
			ok(false, "%s is in lib/", line);
			continue;
		}
		listed[a - atomics] = true;
		pairs = strrchr(rest, '\t') + 1;
		if (strcmp(pairs, "-") != 0)
			ok(still_fails(a, pairs), "%s: weaker fails, %s", line, pairs);
	}
	fclose(table);
}

void
check_listed(void)
{
	unsigned a, missing = 0;

	for (a = 0; a < atomic_count; a++)
		if (is_reached(a) && !listed[a]) {
			tap_note("not in tests/weak/table: %s", atomics[a].name);
			missing++;
		}
	is(missing, 0, "each atomic that a scenario runs is in the table: weak.t -t writes it");
}

bool
table_has(const char *wanted)
{
	char line[512];
	FILE *table = open_table();
	bool found = false;

	while (!found && fgets(line, sizeof(line), table) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		found = strcmp(line, wanted) == 0;
	}
	fclose(table);
	return found;
}
