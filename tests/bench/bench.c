/* SPDX-License-Identifier: ISC */
/*
 * bench.c - measures flocklimit and its peers side by side.
 *
 *	bench FLOCKLIMIT DIRECTORY-OF-NOOP-AND-MARK [SECTION...]
 *
 * BENCH_QUICK=1 in the environment: fewer runs.
 */
#include "bench.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report.h"

const struct build builds[BUILDS] = {
	{ "", "command built with the C compiler, `-static`" },
	{ "-small", "command built with the program's compiler, `-static`" },
};

static const struct section {
	const char *name;
	void (*measure)(const struct bench *b);
} sections[] = {
	{ "uncontended", uncontended },
	{ "handover", handover },
	{ "pool", pool },
	{ "scripts", scripts },
	{ "memory", memory },
	{ "crowd", crowd },
	/* Before those that start threads: the kernel counts our own memory for a child's, up to its exec. */
	{ "map", map },
	{ "acquire", acquire },
	{ "scale", scale },
	{ "admission", admission },
	{ "turns", turns },
	{ "shares", shares },
};

#define SECTIONS (sizeof(sections) / sizeof(sections[0]))

char *
bench_command(const struct bench *b, const char *name, int build, char path[PATH_SIZE])
{
	if (snprintf(path, PATH_SIZE, "%s/%s%s", b->dir, name, builds[build].suffix) >= PATH_SIZE)
		die("%s: path too long", b->dir);
	if (access(path, X_OK) == -1)
		die("%s: %s; `make bench' builds it", path, strerror(errno));
	return path;
}

static bool
is_wanted(const struct section *s, char **names)
{
	int i;

	for (i = 0; names[i] != NULL; i++)
		if (strcmp(names[i], s->name) == 0)
			return true;
	return i == 0;
}

static bool
are_known(char **names)
{
	char *one[2] = { NULL, NULL };
	size_t s;

	for (; *names != NULL; names++) {
		one[0] = *names;
		for (s = 0; s < SECTIONS && !is_wanted(&sections[s], one); s++)
			;
		if (s == SECTIONS)
			return false;
	}
	return true;
}

int
main(int argc, char **argv)
{
	const char *quick = getenv("BENCH_QUICK");
	struct bench b = { .quick = quick != NULL && *quick != '\0' && *quick != '0' };
	uint64_t start = now_ns();
	size_t s;

	if (argc < 3 || !are_known(argv + 3)) {
		fprintf(stderr, "usage: bench FLOCKLIMIT DIRECTORY [SECTION...]\nsections:");
		for (s = 0; s < SECTIONS; s++)
			fprintf(stderr, " %s", sections[s].name);
		fprintf(stderr, "\n");
		return 2;
	}
	snprintf(b.program, sizeof(b.program), "%s", argv[1]);
	snprintf(b.dir, sizeof(b.dir), "%s", argv[2]);
	world_begin();
	report_machine();
	for (s = 0; s < SECTIONS; s++)
		if (is_wanted(&sections[s], argv + 3))
			sections[s].measure(&b);
	report_end(start);
	if (world_complaints(report) != 0)
		die("somebody complained: see above");
	return 0;
}
