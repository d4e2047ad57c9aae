/* SPDX-License-Identifier: ISC */
#include "fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "kind.h"
#include "limiter.h"
#include "say.h"

#define FAILED 125

#define OPEN_IT "open it first, as in exec %d<\"$(flocklimitctl path NAME)\""

bool
fd_refuse(const struct options *o, int code)
{
	if (o->fd == -1 || code != -FLK_NOTFILE)
		return false;
	say(o->want.limiter, "--fd: descriptor %d is not open on this limiter: " OPEN_IT, o->fd,
	    o->fd);
	return true;
}

/* The path under which the descriptor's file still is. */
static int
find_path(const struct options *o, const struct stat *sb, char room[LIMITER_NAME])
{
	char link[40];
	struct stat there;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", o->fd);
	n = readlink(link, room, LIMITER_NAME - 1);
	if (n == -1) {
		say(NULL,
		    "--fd: cannot find the limiter of descriptor %d without /proc: name it with -N "
		    "or -f",
		    o->fd);
		return FAILED;
	}
	room[n] = '\0';
	if (sb->st_nlink == 0) {
		say(NULL, "--fd: the limiter of descriptor %d was removed: open it again", o->fd);
		return FAILED;
	}
	if (lstat(room, &there) == -1 || there.st_dev != sb->st_dev || there.st_ino != sb->st_ino) {
		say(NULL,
		    "--fd: the limiter of descriptor %d is not at %s any more: name it with -f",
		    o->fd, room);
		return FAILED;
	}
	return -1;
}

int
fd_find(struct options *o, char room[LIMITER_NAME])
{
	int fd = o->fd, flags = fcntl(fd, F_GETFL), status;
	struct stat sb;

	if (!here.is_file) {
		say(o->want.limiter,
		    "--fd is for limiters in files: with a store use --hold-for $$");
		return FAILED;
	}
	if (flags == -1 || fstat(o->fd, &sb) == -1) {
		say(o->want.limiter, "--fd: descriptor %d is not open: " OPEN_IT, fd, fd);
		return FAILED;
	}
	if ((flags & O_PATH) != 0 || (flags & O_ACCMODE) == O_WRONLY) {
		say(o->want.limiter,
		    "--fd: descriptor %d is not open for reading: use %d<, not %d>, which "
		    "also empties the file",
		    fd, fd, fd);
		return FAILED;
	}
	if (!S_ISREG(sb.st_mode)) {
		say(o->want.limiter, "--fd: descriptor %d is no file: " OPEN_IT, fd, fd);
		return FAILED;
	}
	if ((flags & O_ACCMODE) == O_RDWR && !o->want.how.quiet && !o->unlock)
		say(o->want.limiter,
		    "--fd: descriptor %d is open for writing: every process that inherits it can "
		    "change the limiter: use %d<",
		    fd, fd);
	if (o->want.limiter != NULL)
		return -1;
	if ((status = find_path(o, &sb, room)) != -1)
		return status;
	o->want.limiter = o->want.file = room;
	return -1;
}

int
fd_holds(const struct options *o, struct flk *limiter, struct flk_permit *permit)
{
	int error = flk_entrusted(limiter, o->fd, permit);

	if (error != 0 || o->want.how.quiet)
		return error;
	if (limiter_weight_differs(&o->want, permit))
		say(o->want.limiter,
		    "-w %s has no effect: descriptor %d has a permit of weight %u already",
		    o->want.weight_word, o->fd, permit->weight);
	return 0;
}

int
fd_entrust(const struct options *o, struct flk_taker *t)
{
	return flk_entrust_to(t, o->fd, getppid());
}

int
fd_unlock(const struct options *o, const char *path)
{
	struct flk_options options = { .existing = true };
	struct flk *limiter;
	int error = here.attach(&limiter, path, &options);

	if (error == -ENOENT)
		return 0;
	if (error != 0)
		return limiter_refuse(&o->want, path, NULL, error);
	error = flk_take_back(limiter, o->fd);
	if (error != 0 && error != -FLK_NOPERMIT && !fd_refuse(o, error))
		limiter_refuse(&o->want, path, limiter, error);
	flk_detach(limiter);
	return error == 0 || error == -FLK_NOPERMIT ? 0 : FAILED;
}
