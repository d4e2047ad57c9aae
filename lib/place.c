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

#define DIR_MAX (PLACE_MAX - FLK_NAME_MAX - 2)

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

/* What nobody chose must be safe by itself; of a chosen one, only what no one can have meant. */
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
open_dir(const char *dir, bool ours, bool make)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0);
	int fd = open(dir, flags), error;

	if (fd == -1 && errno == ENOENT && make && (mkdir(dir, 0700) == 0 || errno == EEXIST))
		fd = open(dir, flags);
	if (fd == -1)
		return ours && (errno == ENOTDIR || errno == ELOOP) ? -FLK_BADDIR : -errno;
	if ((error = check_dir(fd, ours)) != 0) {
		close(fd);
		return error;
	}
	return fd;
}

/* *ours: nobody chose it. */
static int
choose_dir(char dir[DIR_MAX], bool *ours)
{
	static const char *const places[] = { "/run/lock", "/dev/shm", "/tmp" };
	/* As with every getenv: no other thread may change the environment meanwhile. */
	const char *chosen = secure_getenv("FLOCKLIMIT_DIR");
	size_t i;

	*ours = chosen == NULL || *chosen == '\0';
	if (!*ours)
		return (size_t)snprintf(dir, DIR_MAX, "%s", chosen) < DIR_MAX ? 0 : -ENAMETOOLONG;
	for (i = 0; i < 2 && !is_shared_place(places[i]); i++)
		;
	snprintf(dir, DIR_MAX, "%s/flocklimit-%lu", places[i], (unsigned long)geteuid());
	return 0;
}

int
flki_place_path(const char *name, char path[PLACE_MAX])
{
	char dir[DIR_MAX];
	bool ours;
	int error = flki_place_is_name(name) ? choose_dir(dir, &ours) : -FLK_BADNAME;

	if (error == 0)
		snprintf(path, PLACE_MAX, "%s/%s", dir, name);
	return error;
}

int
flki_place_find(const char *name, bool make, int *dirfd, char path[PLACE_MAX])
{
	char dir[DIR_MAX];
	bool ours;
	int error, fd;

	if (!flki_place_is_name(name))
		return -FLK_BADNAME;
	if ((error = choose_dir(dir, &ours)) != 0)
		return error;
	snprintf(path, PLACE_MAX, "%s/%s", dir, name);
	fd = open_dir(dir, ours, make);
	if (fd < 0)
		return fd;
	*dirfd = fd;
	return 0;
}
