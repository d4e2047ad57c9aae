/* SPDX-License-Identifier: ISC */
/*
 * directories.c - which directory lib/directory.c chooses and whether it trusts it, in a file system
 * of our own: it needs no rights, and other users can be at work between any two of its calls.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

/* ---- files that are not there ---- */

#define MOST 12
#define FD   0    /* of the first file: stdin may be closed */
#define US   1000 /* and another user is 1001 */

static struct {
	char path[64];
	mode_t mode;
	uid_t uid;
	bool there;
} file[MOST];

static const char *environment; /* $FLOCKLIMIT_DIR */
static uid_t user;
static int opened, mkdirs, rmdirs, flags_of_open, fstat_fails, mapped, looked_elsewhere;
/* What another process does right before our mkdir(), right after it, and after our rmdir(). */
static void (*meanwhile)(void), (*then)(void), (*after_removal)(void);

static int
find(const char *path)
{
	int i;

	for (i = 0; i < MOST; i++)
		if (file[i].there && strcmp(file[i].path, path) == 0)
			return i;
	errno = ENOENT;
	return -1;
}

static void
put(const char *path, mode_t mode, uid_t uid)
{
	int i;

	for (i = 0; i < MOST - 1 && file[i].there; i++)
		;
	if (file[i].there)
		tap_bail("too many files");
	strcpy(file[i].path, path);
	file[i].mode = mode;
	file[i].uid = uid;
	file[i].there = true;
}

static bool
is_below(const char *path, const char *dir)
{
	return strncmp(path, dir, strlen(dir)) == 0;
}

static int
fake_lstat(const char *path, struct stat *sb)
{
	int i = find(path);

	looked_elsewhere += !is_below(path, "/run/flocklimit") && !is_below(path, "/run/lock") &&
			    !is_below(path, "/dev/shm") && !is_below(path, "/tmp") &&
			    !is_below(path, "/mine");
	memset(sb, 0, sizeof(*sb));
	if (i == -1)
		return -1;
	sb->st_mode = file[i].mode;
	sb->st_uid = file[i].uid;
	return 0;
}

static int
fake_fstat(int fd, struct stat *sb)
{
	if (fstat_fails != 0) {
		errno = fstat_fails;
		return -1;
	}
	return fake_lstat(file[fd - FD].path, sb);
}

static int
fake_open(const char *path, int flags)
{
	int i = find(path);

	flags_of_open = flags;
	if (i == -1)
		return -1;
	if (S_ISLNK(file[i].mode) && (flags & O_NOFOLLOW) != 0) {
		errno = ELOOP;
		return -1;
	}
	if (S_ISREG(file[i].mode)) {
		errno = ENOTDIR;
		return -1;
	}
	opened++;
	return FD + i;
}

static int
fake_close(int fd)
{
	opened -= fd != -1;
	return 0;
}

static int
fake_mkdir(const char *path, mode_t mode)
{
	if (meanwhile != NULL)
		meanwhile();
	if (find(path) != -1) {
		errno = EEXIST;
		return -1;
	}
	put(path, S_IFDIR | mode, user);
	mkdirs++;
	if (then != NULL)
		then();
	return 0;
}

static int
fake_rmdir(const char *path)
{
	file[find(path)].there = false;
	rmdirs++;
	if (after_removal != NULL)
		after_removal();
	return 0;
}

/* Of the user namespace's mapping. */
static ssize_t
fake_read(int fd, char *to, size_t size)
{
	*to = '1';
	return size == 1 && strcmp(file[fd - FD].path, "/proc/self/uid_map") == 0 ? mapped : -1;
}

static uid_t
fake_geteuid(void)
{
	return user;
}

static const char *
fake_getenv(const char *name)
{
	return strcmp(name, "FLOCKLIMIT_DIR") == 0 ? environment : NULL;
}

#define secure_getenv(name) fake_getenv(name)
#define geteuid()           fake_geteuid()
#define lstat(path, sb)     fake_lstat(path, sb)
#define stat(path, sb)      fake_lstat(path, sb)
#define fstat(fd, sb)       fake_fstat(fd, sb)
#define open(path, flags)   fake_open(path, flags)
#define read(fd, to, size)  fake_read(fd, to, size)
#define close(fd)           fake_close(fd)
#define mkdir(path, mode)   fake_mkdir(path, mode)
#define rmdir(path)         fake_rmdir(path)
#include "directory.c"
#undef stat

#define DIRECTORY(bits) (S_IFDIR | (bits))
#define IN_TMP          "/tmp/flocklimit-1000"
#define IN_SHM          "/dev/shm/flocklimit-1000"

/* Nothing but the parents that every machine has: /run/flocklimit and /run/lock are missing. */
static void
begin_world(uid_t uid)
{
	memset(file, 0, sizeof(file));
	environment = NULL;
	user = uid;
	mkdirs = rmdirs = 0;
	meanwhile = then = after_removal = NULL;
	put("/dev/shm", DIRECTORY(01777), 0);
	put("/tmp", DIRECTORY(01777), 0);
}

/* The first file has the descriptor 0. */
static void
begin_world_with(uid_t uid, const char *path, mode_t mode)
{
	begin_world(uid);
	memset(file, 0, sizeof(file));
	put(path, mode, uid);
	put("/tmp", DIRECTORY(01777), 0);
}

static void
chooses(const char *want, const char *words)
{
	struct directory d;
	int error = flki_directory_choose(&d, "x");

	ok(error == 0 && strcmp(d.dir, want) == 0, "%s: %s", words, error == 0 ? d.dir : "none");
}

static int
choosing(const char *name)
{
	struct directory d;

	return flki_directory_choose(&d, name);
}

/* Opens it and closes it again. */
static int
opening(bool make)
{
	struct directory d;
	int fd = -1, error;

	errno = EEXIST; /* of an earlier call, and without meaning */
	error = flki_directory_open(&d, "x", make, &fd);
	if (error == 0)
		fake_close(fd);
	return error;
}

/* ---- which one ---- */

static void
test_choice(void)
{
	begin_world(0);
	chooses("/run/flocklimit-0", "root's");
	begin_world(US);
	chooses(IN_SHM, "a user's: in the first parent there is");
	put("/run/lock", DIRECTORY(0755), 0);
	chooses(IN_SHM, "not in one that is closed to users");
	file[find("/run/lock")].mode = DIRECTORY(0777);
	chooses(IN_SHM, "nor in one where others could remove it");
	file[find("/run/lock")].mode = DIRECTORY(01775);
	chooses(IN_SHM, "nor in one for a group");
	file[find("/run/lock")].mode = S_IFREG | 01777;
	chooses(IN_SHM, "nor in what is no directory");
	file[find("/run/lock")].mode = DIRECTORY(01777);
	chooses("/run/lock/flocklimit-1000", "but there, if it is as it should be");
	put(IN_SHM, DIRECTORY(0700), 1001);
	chooses("/run/lock/flocklimit-1000", "whatever others have made elsewhere");
	put(IN_TMP, S_IFREG | 0600, US);
	chooses("/run/lock/flocklimit-1000", "or is no directory");
	file[find(IN_TMP)].mode = DIRECTORY(0700);
	chooses(IN_TMP, "one that the user has already, in the last parent, comes first");
	put("/run/flocklimit/flocklimit-1000", DIRECTORY(0700), US);
	chooses("/run/flocklimit/flocklimit-1000", "and of two, that in the earlier parent");
	begin_world(US);
	put("/run/flocklimit", DIRECTORY(01777), 0);
	chooses("/run/flocklimit/flocklimit-1000", "the parent that is made for it comes first");
	begin_world(US);
	file[find("/dev/shm")].there = false;
	chooses(IN_TMP, "the last parent does as well");
	file[find("/tmp")].there = false;
	is(choosing("x"), -FLK_NODIR, "no parent at all");
}

static void
test_unmapped(void)
{
	begin_world(65534);
	chooses("/dev/shm/flocklimit-65534", "nobody's, where /proc does not say more");
	put("/proc/self/uid_map", S_IFCHR, 0);
	mapped = 1;
	chooses("/dev/shm/flocklimit-65534", "nobody's, in a namespace that maps users");
	mapped = 0;
	is(choosing("x"), -FLK_UNMAPPED, "in one that maps none, he has none");
	is(flags_of_open, O_RDONLY | O_CLOEXEC, "no command inherits what was looked at");
	environment = "/mine";
	chooses("/mine", "but he may choose one");
	begin_world_with(65534, "/proc/self/uid_map", S_IFCHR);
	is(choosing("x"), -FLK_UNMAPPED, "also where stdin was closed");
	is(opened, 0, "nothing stays open");
	begin_world(US);
	put("/proc/self/uid_map", S_IFCHR, 0);
	chooses(IN_SHM, "others need not ask");
}

static void
test_chosen(void)
{
	static char longest[DIR_MAX + 1], name[FLK_NAME_MAX + 1], path[PATH_ROOM];
	struct directory d;

	begin_world(US);
	environment = "/mine";
	chooses("/mine", "the one that the user has chosen");
	environment = "mine";
	is(choosing("x"), -FLK_RELATIVE, "which must be absolute");
	is(opening(true), -FLK_RELATIVE, "else none is made");
	environment = "";
	chooses(IN_SHM, "an empty choice is none");
	is(choosing(".x"), -FLK_BADNAME, "not with such a name");
	memset(longest, '/', DIR_MAX);
	memset(name, 'n', FLK_NAME_MAX);
	environment = longest;
	is(choosing("x"), -ENAMETOOLONG, "too long for the kernel, with the longest name");
	longest[DIR_MAX - 1] = '\0';
	ok(flki_directory_choose(&d, name) == 0 &&
	       flki_directory_join(&d, name, path, sizeof(path)) == 0 &&
	       strlen(path) == PATH_ROOM - 2,
	   "one less is not");
}

/* The path is as long as was said, and is not written where there is less room. */
static void
joins(const char *dir, const char *name, const char *want)
{
	const struct directory d = { .dir = dir };
	char path[20];
	size_t size = strlen(want) + 1;

	memset(path, 'z', sizeof(path));
	is(flki_directory_size(&d, name), size, "the path %s, with its final zero", want);
	is(flki_directory_join(&d, name, path, size - 1), -ENAMETOOLONG, "needs so much room");
	is(path[0], 'z', "and is not begun in less");
	is(flki_directory_join(&d, name, path, size), 0, "and no more");
	is(strcmp(path, want), 0, "than that");
}

static void
test_paths(void)
{
	joins("/mine", "x", "/mine/x");
	joins(NULL, "./x", "./x");
}

/* ---- may it be used ---- */

static void
test_trust(void)
{
	begin_world(US);
	put(IN_SHM, DIRECTORY(0700), US);
	is(opening(false), 0, "our own");
	is(flags_of_open, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW,
	   "no link is followed, and no command inherits it");
	file[find(IN_SHM)].mode = DIRECTORY(0755);
	is(opening(false), 0, "others may look");
	file[find(IN_SHM)].mode = DIRECTORY(0720);
	is(opening(false), -FLK_BADDIR, "but no group may write");
	file[find(IN_SHM)].mode = DIRECTORY(01702);
	is(opening(false), -FLK_BADDIR, "nor others");
	fstat_fails = EIO;
	is(opening(false), -EIO, "nor is one used that can't be looked at");
	fstat_fails = 0;
	file[find(IN_SHM)].uid = 1001;
	file[find(IN_SHM)].mode = DIRECTORY(0700);
	is(opening(true), -FLK_FOREIGNDIR, "another user's is neither used nor skipped");
	file[find(IN_SHM)].mode = S_IFREG | 0600;
	is(opening(true), -FLK_FOREIGNDIR, "nor is another user's file");
	file[find(IN_SHM)].mode = S_IFLNK | 0777;
	is(opening(true), -FLK_FOREIGNDIR, "or link");
	file[find(IN_SHM)].uid = US;
	is(opening(true), -FLK_BADDIR, "nor a link of our own");
	file[find(IN_SHM)].mode = S_IFREG | 0600;
	is(opening(true), -FLK_BADDIR, "or a file");
	file[find(IN_SHM)].mode = S_IFSOCK | 0600;
	is(opening(true), -FLK_BADDIR, "or what open(2) takes for a directory");
}

static void
test_trust_of_chosen(void)
{
	begin_world(US);
	environment = "/mine";
	put("/mine", DIRECTORY(0770), 1001);
	is(opening(false), 0, "a group's, if the user has chosen it");
	is(flags_of_open, O_PATH | O_DIRECTORY | O_CLOEXEC, "also by a link");
	file[find("/mine")].mode = DIRECTORY(01777);
	is(opening(false), 0, "or everybody's, where files are safe");
	file[find("/mine")].mode = DIRECTORY(0777);
	is(opening(false), -FLK_BADDIR, "not where each may remove them");
	file[find("/mine")].mode = S_IFREG | 0600;
	is(opening(false), -ENOTDIR, "a file is none");
	begin_world_with(US, "/mine", DIRECTORY(0700));
	environment = "/mine";
	is(opening(false), 0, "any descriptor will do");
	is(opened, 0, "no descriptor is left");
}

/* ---- making it ---- */

static void
others_make_it(void)
{
	meanwhile = NULL;
	put(IN_SHM, DIRECTORY(0700), US);
}

/* A process of ours that knew another parent. */
static void
we_make_another(void)
{
	put(IN_TMP, DIRECTORY(0700), US);
}

static void
we_make_the_first(void)
{
	put("/run/flocklimit/flocklimit-1000", DIRECTORY(0700), US);
}

/* A rival that has gone again before we look for the next time. */
static void
the_other_is_gone(void)
{
	if (find(IN_TMP) != -1)
		file[find(IN_TMP)].there = false;
}

static void
test_making(void)
{
	struct directory d;
	int fd;

	begin_world(US);
	is(opening(false), -ENOENT, "none is made unless that is wanted");
	is(mkdirs, 0, "none");
	is(opening(true), 0, "one is made");
	ok(mkdirs == 1 && find(IN_SHM) != -1 && file[find(IN_SHM)].mode == DIRECTORY(0700),
	   "for its user alone");
	is(opening(true), 0, "and used from then on");
	is(mkdirs, 1, "as it is");

	begin_world(US);
	meanwhile = others_make_it;
	is(opening(true), 0, "another process was faster");
	is(mkdirs, 0, "and its is used");

	begin_world(US);
	then = we_make_another;
	ok(flki_directory_open(&d, "x", true, &fd) == 0 && strcmp(d.dir, IN_TMP) == 0,
	   "of two that were made at once, that of the other process is used");
	fake_close(fd);
	ok(mkdirs == 1 && rmdirs == 1 && find(IN_SHM) == -1, "and ours is gone");
	is(opened, 0, "no descriptor is left");

	begin_world(US);
	then = we_make_another;
	after_removal = the_other_is_gone;
	is(opening(true), 0, "two that make and remove theirs in turns come to an end");
	ok(rmdirs == TRIES && mkdirs == TRIES + 1 && find(IN_SHM) != -1, "with one");

	begin_world(US);
	put("/run/flocklimit", DIRECTORY(0755), 0);
	then = we_make_the_first;
	is(opening(true), 0, "one that comes in the first parent meanwhile");
	ok(find(IN_SHM) == -1, "is used instead of ours");

	begin_world(US);
	environment = "/mine";
	then = we_make_another;
	put(IN_SHM, DIRECTORY(0700), US);
	is(opening(true), 0, "one that the user has chosen is mkdirs, too");
	is(rmdirs, 0, "and stays, whatever else there is");
}

int
main(void)
{
	begin();
	test_choice();
	test_unmapped();
	test_chosen();
	test_paths();
	test_trust();
	test_trust_of_chosen();
	test_making();
	is(looked_elsewhere, 0, "no other place was looked at");
	return tap_done();
}
