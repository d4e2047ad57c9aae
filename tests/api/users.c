/* SPDX-License-Identifier: ISC */
/*
 * users.c - which directories of a machine lib/directory.c takes for the limiter directories of its users:
 * those alone that nobody but their user can have made.  The file system is our own.
 */
#include "../helpers/common.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define A_DIR (S_IFDIR | 0700)

/* There is no /run/lock. */
static const struct {
	const char *parent, *name;
	mode_t mode;
	uid_t uid;
	bool is_gone; /* removed since it was listed */
	bool counts;
} entries[] = {
	{ "/run", "flocklimit", A_DIR, 0, false, false },
	{ "/run", "flocklimit-0", A_DIR, 0, false, true },
	{ "/run", "flocklimit-01", A_DIR, 1, false, false },
	{ "/run/flocklimit", "flocklimit-1000", A_DIR, 1000, false, true },
	{ "/run/flocklimit", "flocklimit-1001", A_DIR, 1002, false, false },
	{ "/run/flocklimit", "flocklimit-1003", S_IFREG | 0700, 1003, false, false },
	{ "/run/flocklimit", "flocklimit-1004", S_IFLNK | 0777, 1004, false, false },
	{ "/run/flocklimit", "flocklimit-1005", A_DIR, 1005, true, false },
	{ "/run/flocklimit", "flocklimit-1006.d", A_DIR, 1006, false, false },
	{ "/dev/shm", "flocklimit-4294967294", A_DIR, 4294967294U, false, true },
	{ "/dev/shm", "flocklimit-", A_DIR, 0, false, false },
	{ "/dev/shm", "flocklimit-root", A_DIR, 0, false, false },
	{ "/dev/shm", "flocklimit+1007", A_DIR, 1007, false, false },
	{ "/tmp", "1008", A_DIR, 1008, false, false },
	{ "/tmp", "x-flocklimit-1009", A_DIR, 1009, false, false },
	{ "/tmp", "flocklimit-1000", A_DIR, 1000, false, true },
	{ "/home", "flocklimit-1010", A_DIR, 1010, false, false },
};

#define ENTRIES (sizeof(entries) / sizeof(entries[0]))

static struct {
	const char *path;
	size_t next;
} stream;

static int opened;
static bool followed, strangers;

static DIR *
fake_opendir(const char *path)
{
	size_t i;

	for (i = 0; i < ENTRIES && strcmp(entries[i].parent, path) != 0; i++)
		;
	errno = ENOENT;
	if (i == ENTRIES)
		return NULL;
	opened++;
	stream.path = entries[i].parent;
	stream.next = i;
	return (DIR *)&stream;
}

static struct dirent *
fake_readdir(DIR *dir)
{
	static struct dirent entry;

	(void)dir;
	if (stream.next == ENTRIES || strcmp(entries[stream.next].parent, stream.path) != 0)
		return NULL;
	strcpy(entry.d_name, entries[stream.next++].name);
	return &entry;
}

static int
fake_closedir(DIR *dir)
{
	opened -= dir == (DIR *)&stream;
	return 0;
}

/* What it leaves in *sb where it fails means nothing, and is what would count. */
static int
fake_fstatat(const char *name, struct stat *sb, int flags)
{
	const size_t i = stream.next - 1;

	followed |= flags != AT_SYMLINK_NOFOLLOW;
	strangers |= strncmp(name, "flocklimit-", 11) != 0;
	memset(sb, 0, sizeof(*sb));
	sb->st_mode = entries[i].mode;
	sb->st_uid = entries[i].uid;
	errno = ENOENT;
	return entries[i].is_gone ? -1 : 0;
}

#define opendir(path)                fake_opendir(path)
#define readdir(dir)                 fake_readdir(dir)
#define closedir(dir)                fake_closedir(dir)
#define dirfd(dir)                   ((void)(dir), 0)
#define fstatat(fd, name, sb, flags) ((void)(fd), fake_fstatat(name, sb, flags))
#include "directory.c"

static size_t visited;

static void
visit(void *context, uid_t uid, const char *dir)
{
	char path[100];

	while (visited < ENTRIES && !entries[visited].counts)
		visited++;
	if (visited == ENTRIES)
		tap_bail("one too many: %s", dir);
	snprintf(path, sizeof(path), "%s/%s", entries[visited].parent, entries[visited].name);
	ok(context == &visited && uid == entries[visited].uid && strcmp(dir, path) == 0, "%s: %s",
	   path, dir);
	visited++;
}

int
main(void)
{
	begin();
	flki_directories(visit, &visited);
	while (visited < ENTRIES && !entries[visited].counts)
		visited++;
	is(visited, ENTRIES, "all that count are found, in the order of their parents");
	ok(!followed, "no link is followed");
	ok(!strangers, "and what has another name is not looked at: it may never answer");
	is(opened, 0, "nothing stays open");
	return tap_done();
}
