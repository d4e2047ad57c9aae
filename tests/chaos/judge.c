/* SPDX-License-Identifier: ISC */
/*
 * judge.c - judges a log of chaos.t; and, without one, the judge, by the logs of made.h.
 *
 *	judge.t				the test
 *	judge.t LOG [STALL_MS]		exits with 1 if LOG tells of a violation; a longer stall
 *					is one, too
 */
#include "judge.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../helpers/scratch.h"
#include "../helpers/tap.h"
#include "made.h"

static void
judge(const struct made *made, const char *path)
{
	struct verdict v = { .silent = true };
	bool right, innocent = made->want == INNOCENT;

	made_write(made, path);
	chaos_judge(path, 50 * MS, &v);
	right = innocent ? v.all == 0 : v.count[made->want] > 0 && v.count[made->want] == v.all;
	ok(right, "%s%s", innocent ? "innocent: " : "", made->words);
	if (!right) {
		v = (struct verdict){ .all = 0 };
		chaos_judge(path, 50 * MS, &v);
	}
}

int
main(int argc, char **argv)
{
	static const struct made *const laws[] = { made_limit, made_line, made_file, made_end,
						   made_stall };
	char dir[SCRATCH], path[SCRATCH + 8];
	const struct made *made;
	size_t i;

	if (argc > 1) {
		struct verdict v = { .all = 0 };
		chaos_judge(argv[1], argc > 2 ? strtoull(argv[2], NULL, 10) * MS : 0, &v);
		return v.all > 0;
	}
	scratch_dir(dir);
	snprintf(path, sizeof(path), "%s/log", dir);
	for (i = 0; i < sizeof(laws) / sizeof(laws[0]); i++)
		for (made = laws[i]; made->log != NULL; made++)
			judge(made, path);
	unlink(path);
	rmdir(dir);
	return tap_done();
}
