/* SPDX-License-Identifier: ISC */
/*
 * silent_disk.c - a file system that does not answer: its free space is not known, and no taker hangs.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define HANGS 10 /* more than may be asked at once */

static atomic_bool answers;
static atomic_uint asked;

static int
slow(const char *path, struct statvfs *fs)
{
	atomic_fetch_add(&asked, 1);
	while (!atomic_load(&answers))
		usleep(1000);
	return statvfs(path, fs);
}

#define statvfs(path, fs) slow(path, fs)
#include "measure.c"
#undef statvfs

static uint64_t
ask(const char *path)
{
	struct condition c = { .kind = DISK, .path = path, .path_length = strlen(path) };

	return flki_measure(&c, NULL);
}

int
main(void)
{
	unsigned i, known = 0, n;
	struct statvfs fs;
	char why[256];

	begin();
	atomic_store(&answers, true);
	if (statvfs("/", &fs) != 0 || fs.f_bavail == 0)
		tap_skip_all("no space on / that could be known");
	ok(ask("/") != UINT64_MAX, "the free space is known");
	ok(ask("/nosuch") == UINT64_MAX, "of no path it is not");
	is(flk_gate_check("disk:/nosuch>1", why, sizeof(why)), -ENOTSUP, "which no gate can have");
	atomic_store(&answers, false);
	for (i = 0; i < HANGS; i++)
		known += ask("/") != UINT64_MAX;
	is(known, 0, "nor is it while there is no answer");
	is(flk_gate_check("disk:/>1", why, sizeof(why)), 0, "but a gate can have such a path");
	n = atomic_load(&asked);
	ok(n < 2 + HANGS, "%d looks left %u threads behind", HANGS, n - 2);
	atomic_store(&answers, true);
	while (ask("/") == UINT64_MAX)
		usleep(1000);
	ok(true, "it is known again when the file system answers");
	return tap_done();
}
