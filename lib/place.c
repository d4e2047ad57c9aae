/*
 * place.c - the limiter directory: the same from a login, cron, a service and a container with
 * the same /run/lock, so nothing of a session's environment but $FLOCKLIMIT_DIR decides.
 */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "flocklimit.h"

bool
flki_place_is_name(const char *name)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._+@%:-";
	size_t n = strlen(name);

	return n >= 1 && n <= FLK_NAME_MAX && name[0] != '.' && strspn(name, good) == n;
}

static bool
is_shared_place(const char *dir)
{
	struct stat sb;

	return lstat(dir, &sb) == 0 && S_ISDIR(sb.st_mode) && (sb.st_mode & S_ISVTX) != 0 &&
	       (sb.st_mode & S_IWOTH) != 0;
}

/* Nobody else may be able to put a file of his choice there. */
static int
check_dir(int fd, bool ours)
{
	struct stat sb;

	if (fstat(fd, &sb) == -1)
		return -errno;
	if (!S_ISDIR(sb.st_mode))
		return -FLK_BADDIR;
	if (ours)
		return sb.st_uid == geteuid() && (sb.st_mode & (S_IWGRP | S_IWOTH)) == 0
			   ? 0
			   : -FLK_BADDIR;
	return (sb.st_mode & S_IWOTH) != 0 && (sb.st_mode & S_ISVTX) == 0 ? -FLK_BADDIR : 0;
}

static int
open_dir(const char *dir, bool ours)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0);
	int fd = open(dir, flags), error;

	if (fd == -1 && errno == ENOENT && (mkdir(dir, 0700) == 0 || errno == EEXIST))
		fd = open(dir, flags);
	if (fd == -1)
		return ours && (errno == ENOTDIR || errno == ELOOP) ? -FLK_BADDIR : -errno;
	if ((error = check_dir(fd, ours)) != 0) {
		close(fd);
		return error;
	}
	return fd;
}

int
flki_place_find(const char *name, int *dirfd, char path[PLACE_MAX])
{
	static const char *const places[] = { "/run/lock", "/dev/shm", "/tmp" };
	const char *chosen = getenv("FLOCKLIMIT_DIR");
	bool ours = chosen == NULL || *chosen == '\0';
	char dir[PLACE_MAX - FLK_NAME_MAX - 2];
	size_t i;
	int fd;

	if (!flki_place_is_name(name))
		return -FLK_BADNAME;
	if (ours) {
		for (i = 0; i < 2 && !is_shared_place(places[i]); i++)
			;
		snprintf(dir, sizeof(dir), "%s/flocklimit-%lu", places[i],
			 (unsigned long)geteuid());
	} else if ((size_t)snprintf(dir, sizeof(dir), "%s", chosen) >= sizeof(dir)) {
		return -ENAMETOOLONG;
	}
	snprintf(path, PLACE_MAX, "%s/%s", dir, name);
	fd = open_dir(dir, ours);
	if (fd < 0)
		return fd;
	*dirfd = fd;
	return 0;
}
