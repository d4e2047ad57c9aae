/*
 * place.c - the limiter directory: the same from a login, cron, a service and a container with
 * the same /run, so nothing of a session's environment but $FLOCKLIMIT_DIR decides.
 *
 * Root's is in a directory in which only root can make anything.  A user's is in one in which any
 * other user can make something of that name before.  Such a thing is neither used nor passed over:
 * if it were passed over, its maker could send one process here and the next there, by removing it
 * in between, and a limiter would be split in two.  But it counts only as long as the user has no
 * directory yet: once there is one, all processes of the user find it, whatever others make, and
 * whichever place becomes available later.
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

static const char *const places[] = { "/run/flocklimit", "/run/lock", "/dev/shm", "/tmp" };

#define PLACES (sizeof(places) / sizeof(places[0]))
#define TRIES  4 /* against another process of ours that makes the directory elsewhere */

bool
flki_place_is_name(const char *name)
{
	static const char good[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				   "0123456789._+@%:-";
	size_t n = strlen(name);

	return n >= 1 && n <= FLK_NAME_MAX && name[0] != '.' && name[0] != '-' &&
	       strspn(name, good) == n;
}

static void
name_dir(struct place *p, size_t place)
{
	snprintf(p->found, sizeof(p->found), "%s/flocklimit-%lu", places[place],
		 (unsigned long)geteuid());
}

/* Nobody but its user can have made it, as a directory can't be given away. */
static bool
is_own_dir(const char *dir)
{
	struct stat sb;

	return lstat(dir, &sb) == 0 && S_ISDIR(sb.st_mode) && sb.st_uid == geteuid();
}

static size_t
count_own_dirs(void)
{
	struct place p = { .found = "" };
	size_t i, n = 0;

	for (i = 0; i < PLACES; i++) {
		name_dir(&p, i);
		n += is_own_dir(p.found);
	}
	return n;
}

static bool
is_shared_place(const char *dir)
{
	struct stat sb;

	return stat(dir, &sb) == 0 && S_ISDIR(sb.st_mode) && (sb.st_mode & S_ISVTX) != 0 &&
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
	if (ours && sb.st_uid != geteuid())
		return -FLK_FOREIGNDIR;
	if (ours)
		return (sb.st_mode & (S_IWGRP | S_IWOTH)) == 0 ? 0 : -FLK_BADDIR;
	return (sb.st_mode & S_IWOTH) != 0 && (sb.st_mode & S_ISVTX) == 0 ? -FLK_BADDIR : 0;
}

/* It is no directory, or a symbolic link. */
static int
why_not_dir(const char *dir)
{
	struct stat sb;

	return lstat(dir, &sb) == 0 && sb.st_uid != geteuid() ? -FLK_FOREIGNDIR : -FLK_BADDIR;
}

/* *made: we made it. */
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
flki_place_choose(struct place *p, const char *name)
{
	/* As with every getenv: no other thread may change the environment while P is in use. */
	const char *chosen = secure_getenv("FLOCKLIMIT_DIR");
	size_t i;

	if (!flki_place_is_name(name))
		return -FLK_BADNAME;
	p->chosen = chosen != NULL && *chosen != '\0';
	p->dir = p->chosen ? chosen : p->found;
	if (p->chosen && *chosen != '/')
		return -FLK_RELATIVE;
	if (p->chosen)
		return strlen(chosen) < DIR_MAX ? 0 : -ENAMETOOLONG;
	if (geteuid() == 0) {
		strcpy(p->found, "/run/flocklimit-0");
		return 0;
	}
	for (i = 0; i < PLACES; i++) {
		name_dir(p, i);
		if (is_own_dir(p->found))
			return 0;
	}
	for (i = 0; i < PLACES && !is_shared_place(places[i]); i++)
		;
	if (i == PLACES)
		return -FLK_NOPLACE;
	name_dir(p, i);
	return 0;
}

/*
 * Another process of ours may have found another place to be the first, because ours became
 * available just now, and have made a directory there after we looked.  Then each of the two sees the
 * other's, as each looks after it made its own, and takes its own away.
 */
int
flki_place_open(struct place *p, const char *name, bool make, int *dirfd)
{
	int error, fd, tries;
	bool made;

	for (tries = 0;; tries++) {
		if ((error = flki_place_choose(p, name)) != 0)
			return error;
		if ((fd = open_dir(p->dir, !p->chosen, make, &made)) < 0)
			return fd;
		if (p->chosen || !made || tries == TRIES || count_own_dirs() < 2)
			break;
		close(fd);
		rmdir(p->dir);
	}
	*dirfd = fd;
	return 0;
}

size_t
flki_place_size(const struct place *p, const char *name)
{
	return (p->dir != NULL ? strlen(p->dir) + 1 : 0) + strlen(name) + 1;
}

int
flki_place_join(const struct place *p, const char *name, char *path, size_t size)
{
	size_t dir = p->dir != NULL ? strlen(p->dir) : 0, base = strlen(name);

	if (dir + (p->dir != NULL) + base >= size)
		return -ENAMETOOLONG;
	if (p->dir != NULL) {
		memcpy(path, p->dir, dir);
		path[dir++] = '/';
	}
	memcpy(path + dir, name, base + 1);
	return 0;
}
