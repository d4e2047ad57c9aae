/* SPDX-License-Identifier: ISC */
/*
 * main.c - histories by the thousand, each from a seed.
 *
 *	sim [--seed N] [--histories N] [--takers N] [--trace] [--error NAME] [--law NAME]
 *	sim --laws | --errors
 *
 * --law: no other counts; of an error, the law that must find it is the default.
 *
 * Exit status: 0 if no law was broken; 1 if one was: then the seed and the last lines of its trace
 * are on stdout; 2 for a bad option.
 */
#include <err.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runs.h"
#include "sim.h"

static struct {
	uint64_t seed, histories;
	unsigned takers;
} options = { .seed = 1, .histories = 1 };

/* ---- options ---- */

static uint64_t
number(const char *text)
{
	char *end;
	uint64_t n = strtoull(text, &end, 10);

	if (*text == '\0' || *end != '\0')
		errx(2, "%s is no number", text);
	return n;
}

static void
list(bool of_errors)
{
	const struct law *law;
	const struct error *e;

	for (law = laws; !of_errors && law->name != NULL; law++)
		printf("%-12s %s\n", law->name, law->words);
	for (e = errors; of_errors && e->name != NULL; e++)
		printf("%-18s %-12s %s\n", e->name, laws[e->law].name, e->words);
	exit(0);
}

static unsigned
law_named(const char *name)
{
	unsigned i;

	for (i = 0; i < LAWS; i++)
		if (strcmp(laws[i].name, name) == 0)
			return i;
	errx(2, "there is no law %s: see --laws", name);
}

static void
parse(int argc, char **argv)
{
	static const struct option words[] = { { "error", required_argument, NULL, 'e' },
					       { "errors", no_argument, NULL, 'E' },
					       { "histories", required_argument, NULL, 'n' },
					       { "law", required_argument, NULL, 'l' },
					       { "laws", no_argument, NULL, 'L' },
					       { "seed", required_argument, NULL, 's' },
					       { "takers", required_argument, NULL, 't' },
					       { "trace", no_argument, NULL, 'T' },
					       { 0 } };
	int c;

	while ((c = getopt_long(argc, argv, "", words, NULL)) != -1) {
		switch (c) {
		case 'e':
			if ((error = error_named(optarg)) == NULL)
				errx(2, "there is no error %s: see --errors", optarg);
			wanted_law = error->law;
			break;
		case 'E':
		case 'L':
			list(c == 'E');
			break;
		case 'l':
			wanted_law = law_named(optarg);
			break;
		case 'n':
			options.histories = number(optarg);
			break;
		case 's':
			options.seed = number(optarg);
			break;
		case 't':
			options.takers = (unsigned)number(optarg);
			break;
		case 'T':
			runs_trace = true;
			break;
		default:
			exit(2);
		}
	}
}

int
main(int argc, char **argv)
{
	struct runs r;

	parse(argc, argv);
	if (!runs_go(options.seed, options.histories, options.takers, &r)) {
		runs_show(&r, options.takers);
		return 1;
	}
	printf("%llu histories, %lu grants, %lu refusals, %lu losses, %lu kills, %llu steps: no "
	       "law is "
	       "broken\n",
	       (unsigned long long)r.histories, r.grants, r.refusals, r.losses, r.kills, r.steps);
	return 0;
}
