/* SPDX-License-Identifier: ISC */
#include "unlimited.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "now.h"

#define FILE_NAME "/limiter"

int
unlimited_begin(struct taker_options *w, char path[LIMITER_NAME])
{
	const char *dir = getenv("TMPDIR");

	if (dir == NULL || *dir != '/' || strlen(dir) > LIMITER_NAME / 2)
		dir = "/tmp";
	snprintf(path, LIMITER_NAME / 2 + 32, "%s/flockmap-XXXXXX", dir);
	if (mkdtemp(path) == NULL)
		return errno;
	memcpy(path + strlen(path), FILE_NAME, sizeof(FILE_NAME));
	w->ands.n = 0;
	w->which = 0;
	w->when_run = NULL;
	w->timeout_ns = NEVER;
	w->request.limit_queue = false;
	w->request.not_seats = 0;
	w->file = path;
	return 0;
}

void
unlimited_end(const char *path)
{
	char dir[LIMITER_NAME];

	unlink(path);
	snprintf(dir, sizeof(dir), "%.*s", (int)(strlen(path) - strlen(FILE_NAME)), path);
	rmdir(dir);
}
