/* SPDX-License-Identifier: ISC */
#include "appear.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/inotify.h>

#include "limiters.h"

/* A limiter is linked or renamed to its name; an empty file may become one in place. */
#define NEWS     (IN_CREATE | IN_MOVED_TO | IN_MODIFY | IN_DELETE_SELF | IN_MOVE_SELF)
#define LATER_MS 60000 /* a look for what inotify does not report */
#define POLL_MS  1000  /* without inotify */

/* Watches the directory of the path or, while there is none, the nearest one above. */
static bool
watch(int notify, const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	while ((slash = strrchr(dir, '/')) != NULL) {
		*slash = '\0';
		if (inotify_add_watch(notify, slash == dir ? "/" : dir, NEWS) != -1)
			return true;
		if (errno != ENOENT)
			return false;
	}
	return inotify_add_watch(notify, ".", NEWS) != -1;
}

/* Watches before it looks: a limiter that is made in between is seen by one of the two. */
int
appear(const struct ctl *c, struct flk **f, const char *path)
{
	struct pollfd notify = { .fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK), .events = POLLIN };
	char events[4096];
	bool watched;
	int error;

	for (;;) {
		watched = watch(notify.fd, path);
		if ((error = attach_existing(c, f, path)) != -ENOENT)
			break;
		poll(&notify, 1, watched ? LATER_MS : POLL_MS);
		while (read(notify.fd, events, sizeof(events)) > 0)
			;
	}
	if (notify.fd != -1)
		close(notify.fd);
	return error;
}
