/* SPDX-License-Identifier: ISC */
/*
 * directory.c - the limiter directory.  A login, cron, a service, and a container with the same
 * /run must find the same one.  So of a session's environment only $FLOCKLIMIT_DIR counts.
 *
 * Root's limiter directory is in /run, where only root can make anything.  A user's is in one of
 * the `parents', where any other user can make something of that name first.  Such a thing is
 * neither used nor skipped.  If it were skipped, its maker could send one process here and the next
 * one there, by removing it in between, and a limiter would be split in two.  It counts only as
 * long as the user has no directory yet.  Once there is one, all processes of the user find it,
 * whatever other users make, and whichever parent becomes available later.
 */
#include "directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "flocklimit.h"
#include "name.h"
#include "own.h"

#define DIR_MAX (PATH_ROOM - FLK_NAME_MAX - 2)

static const char *const parents[] = { "/run/flocklimit", "/run/lock", "/dev/shm", "/tmp" };

#define PARENTS (sizeof(parents) / sizeof(parents[0]))
#define NOBODY  65534 /* the overflow uid, unless an operator has changed it */
#define TRIES   4     /* against another process of ours that makes the directory elsewhere */

static void
name_dir(struct directory *d, size_t parent)
{
	snprintf(d->found, sizeof(d->found), "%s/flocklimit-%lu", parents[parent],
		 (unsigned long)geteuid());
}

/*
 * In a user namespace that maps no user, each user has the number of nobody, and so has the owner of each
 * file: the directory would be shared by users who are not one.
 */
static bool
is_unmapped(void)
{
	char c;
	int fd = geteuid() == NOBODY ? open("/proc/self/uid_map", O_RDONLY | O_CLOEXEC) : -1;
	bool empty = fd != -1 && read(fd, &c, 1) == 0;

	if (fd != -1)
		close(fd);
	return empty;
}

/* Only its owner can have made it, because a user can't give a directory away. */
static bool
is_own_dir(const char *dir)
{
	struct stat sb;

	return lstat(dir, &sb) == 0 && S_ISDIR(sb.st_mode) && sb.st_uid == geteuid();
}

static size_t
count_own_dirs(void)
{
	struct directory d = { .found = "" };
	size_t i, n = 0;

	for (i = 0; i < PARENTS; i++) {
		name_dir(&d, i);
		n += is_own_dir(d.found);
	}
	return n;
}

static bool
is_shared_parent(const char *dir)
{
	struct stat sb;

	return stat(dir, &sb) == 0 && S_ISDIR(sb.st_mode) && (sb.st_mode & S_ISVTX) != 0 &&
	       (sb.st_mode & S_IWOTH) != 0;
}

/*
 * A directory that the user has not chosen must be safe.  One that the user has chosen must not let
 * all users remove each other's files.
 */
static int
check_dir(int fd, bool ours)
{
	struct stat sb;

	if (fstat(fd, &sb) == -1)
		return -errno;
	if (!S_ISDIR(sb.st_mode))
		return -FLK_BADDIR;
	if (ours && sb.st_uid != geteuid())
		return -FLK_FOREIGNDIR;
	if (ours)
		return (sb.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -FLK_BADDIR;
	return (sb.st_mode & S_IWOTH) != 0 && (sb.st_mode & S_ISVTX) == 0 ? -FLK_BADDIR : 0;
}

/* Why it can't be opened: it is not a directory, or is a symbolic link. */
static int
why_not_dir(const char *dir)
{
	struct stat sb;

	return lstat(dir, &sb) == 0 && sb.st_uid != geteuid() ? -FLK_FOREIGNDIR : -FLK_BADDIR;
}

/* *made: this call has made it. */
static int
open_dir(const char *dir, bool ours, bool make, bool *made)
{
	int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (ours ? O_NOFOLLOW : 0);
	int fd = open(dir, flags), error;

	*made = fd == -1 && errno == ENOENT && make && mkdir(dir, 0700) == 0;
	if (*made || (fd == -1 && errno == EEXIST))
		fd = open(dir, flags);
	if (fd == -1)
		return ours && (errno == ENOTDIR || errno == ELOOP) ? why_not_dir(dir) : -errno;
	if ((error = check_dir(fd, ours)) != 0) {
		close(fd);
		return error;
	}
	return fd;
}

int
flki_directory_choose(struct directory *d, const char *name)
{
	/* As with every getenv(3): no other thread may change the environment while D is in use. */
	const char *chosen = secure_getenv("FLOCKLIMIT_DIR");
	size_t i;

	if (!flki_is_name(name))
		return -FLK_BADNAME;
	d->chosen = chosen != NULL && *chosen != '\0';
	d->dir = d->chosen ? chosen : d->found;
	if (d->chosen && *chosen != '/')
		return -FLK_RELATIVE;
	if (d->chosen)
		return strlen(chosen) < DIR_MAX ? 0 : -ENAMETOOLONG;
	if (geteuid() == 0) {
		strcpy(d->found, "/run/flocklimit-0");
		return 0;
	}
	if (is_unmapped())
		return -FLK_UNMAPPED;
	for (i = 0; i < PARENTS; i++) {
		name_dir(d, i);
		if (is_own_dir(d->found))
			return 0;
	}
	for (i = 0; i < PARENTS && !is_shared_parent(parents[i]); i++)
		;
	if (i == PARENTS)
		return -FLK_NODIR;
	name_dir(d, i);
	return 0;
}

/*
 * Two processes of one user may choose different parents, if a parent becomes available between
 * their looks, and each may make a directory.  Each looks for others after it made its own, so at
 * least one of them sees both directories.  A process that sees two removes its own and begins
 * again.
 */
int
flki_directory_open(struct directory *d, const char *name, bool make, int *dirfd)
{
	int error, fd, tries;
	bool made;

	for (tries = 0;; tries++) {
		if ((error = flki_directory_choose(d, name)) != 0)
			return error;
		if ((fd = open_dir(d->dir, !d->chosen, make, &made)) < 0)
			return fd;
		if (d->chosen || !made || tries == TRIES || count_own_dirs() < 2)
			break;
		close(fd);
		rmdir(d->dir);
	}
	*dirfd = fd;
	return 0;
}

size_t
flki_directory_size(const struct directory *d, const char *name)
{
	return (d->dir != NULL ? strlen(d->dir) + 1 : 0) + strlen(name) + 1;
}

int
flki_directory_join(const struct directory *d, const char *name, char *path, size_t size)
{
	size_t dir = d->dir != NULL ? strlen(d->dir) : 0, base = strlen(name);

	if (dir + (d->dir != NULL) + base >= size)
		return -ENAMETOOLONG;
	if (d->dir != NULL) {
		memcpy(path, d->dir, dir);
		path[dir++] = '/';
	}
	memcpy(path + dir, name, base + 1);
	return 0;
}

/* ---- those of all users ---- */

/* "flocklimit-1000", and it is that user's: only its owner can have made it. */
static bool
is_users_dir(int parent, const char *name, uid_t *uid)
{
	char right[32];
	struct stat sb;

	if (strncmp(name, "flocklimit-", 11) != 0 ||
	    fstatat(parent, name, &sb, AT_SYMLINK_NOFOLLOW) == -1 || !S_ISDIR(sb.st_mode))
		return false;
	*uid = sb.st_uid;
	snprintf(right, sizeof(right), "flocklimit-%lu", (unsigned long)sb.st_uid);
	return strcmp(name, right) == 0;
}

static void
visit_parent(const char *path, flki_visits_dir *each, void *context)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	char found[PATH_ROOM];
	uid_t uid;

	/* No other thread reads this directory. */
	while (dir != NULL && (entry = readdir(dir)) != NULL) { /* NOLINT(concurrency-mt-unsafe) */
		if (!is_users_dir(dirfd(dir), entry->d_name, &uid))
			continue;
		snprintf(found, sizeof(found), "%s/%s", path, entry->d_name);
		each(context, uid, found);
	}
	if (dir != NULL)
		closedir(dir);
}

void
flki_directories(flki_visits_dir *each, void *context)
{
	size_t i;

	visit_parent("/run", each, context); /* root's */
	for (i = 0; i < PARENTS; i++)
		visit_parent(parents[i], each, context);
}
