/* SPDX-License-Identifier: ISC */
/*
 * readers.c - how lib/reader.c opens a limiter that it only reads, what it answers where the system or
 * the limiter fails, and that nothing stays open behind it.
 */
#include "../helpers/common.h"
#include "../helpers/steer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "internal.h"
#include "boot.h"
#include "clock.h"
#include "filesystem.h"
#include "own.h"
#include "reader.h"

/* ---- what the system answers ---- */

static int stat_error, open_error, boot_error, path_flags, open_flags, allocated, sleeps;
static uint64_t clock_ns;
static enum fs_kind kind;
static bool no_memory;
static void (*in_a_sleep)(void);

static int
fake_fstat(int fd, struct stat *sb)
{
	errno = stat_error;
	return stat_error != 0 ? -1 : fstat(fd, sb);
}

static int
fake_openat(int dirfd, const char *base, int flags)
{
	path_flags = flags;
	return openat(dirfd, base, flags);
}

static int
fake_open(const char *path, int flags)
{
	open_flags = flags;
	errno = open_error;
	return open_error != 0 ? -1 : open(path, flags);
}

static void *
fake_malloc(size_t size)
{
	void *memory = no_memory ? NULL : malloc(size);

	allocated += memory != NULL;
	return memory;
}

/* Also what flk_attach() has allocated. */
static void
fake_free(void *memory)
{
	allocated--;
	free(memory);
}

static int
fake_usleep(unsigned us)
{
	sleeps++;
	clock_ns += us * UINT64_C(1000);
	if (in_a_sleep != NULL)
		in_a_sleep();
	return 0;
}

#define fstat(fd, sb)              fake_fstat(fd, sb)
#define openat(dirfd, base, flags) fake_openat(dirfd, base, flags)
#define open(path, flags)          fake_open(path, flags)
#define malloc(size)               fake_malloc(size)
#define free(memory)               fake_free(memory)
#define usleep(us)                 fake_usleep(us)
#define flki_monotonic_ns()        (clock_ns)
#define flki_boot_learn()          (boot_error)
#define flki_fs_kind(fd)           ((void)(fd), kind)
#include "reader.c"
#undef fstat
#undef openat
#undef open
#undef malloc
#undef free
#undef usleep
#undef flki_monotonic_ns

static const struct flk_options reading = { .existing = true, .reading = true };

static int
descriptors(void)
{
	int fd, n = 0;

	for (fd = 0; fd < 64; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

static void
begin_system(void)
{
	stat_error = open_error = boot_error = allocated = sleeps = 0;
	kind = FS_MEMORY;
	no_memory = false;
	in_a_sleep = NULL;
	clock_ns = 1000 * SECOND;
}

/* Opens this path and closes it; bails out if something stays. */
static int
opening(const char *path)
{
	int before = descriptors(), error;
	struct flk *r;

	allocated = 0;
	if ((error = flk_attach(&r, path, &reading)) == 0) {
		allocated++; /* by flk_attach() */
		flk_detach(r);
	}
	if (descriptors() != before || allocated != 0)
		tap_bail("after %d there are %d pieces of memory and %d descriptors more", error,
			 allocated, descriptors() - before);
	return error;
}

/* ---- opening ---- */

static void
test_opening(void)
{
	struct flk *f = fresh(1), *r;
	const char *path = flk_path(f);
	struct stat sb;

	begin_system();
	is(opening(path), 0, "a limiter");
	is(path_flags, O_PATH | O_NOFOLLOW | O_CLOEXEC, "which is found, and no link followed");
	is(open_flags, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
	   "and opened so that it waits for nobody, and no command inherits it");
	kind = FS_UNKNOWN;
	is(opening(path), 0, "on any file system");
	kind = FS_NETWORK;
	is(opening(path), -FLK_NETWORK, "but of a network");
	begin_system();
	stat_error = EIO;
	is(opening(path), -EIO, "not if it can't be looked at");
	begin_system();
	open_error = EACCES;
	is(opening(path), -EACCES, "or not opened");
	open_error = EWOULDBLOCK;
	is(opening(path), -FLK_LEASED, "or a lease is on it");
	begin_system();
	boot_error = -FLK_NOBOOT;
	is(opening(path), 0, "also where the boot has no name");
	boot_error = -EMFILE;
	is(opening(path), -EMFILE, "but not where that can't be learnt");
	begin_system();
	no_memory = true;
	is(opening(path), -ENOMEM, "nor without memory");
	begin_system();
	if (flk_attach(&r, path, &reading) != 0 || stat(path, &sb) != 0)
		tap_bail("no reader");
	ok(strcmp(flk_path(r), path) == 0 && flk_identity(r) == flk_identity(f) &&
	       r->file.birth == flk_identity(f) && r->file.dev == sb.st_dev &&
	       r->file.ino == sb.st_ino,
	   "a reader says which limiter it reads");
	ok(flki_is_reader(r) && !flki_is_reader(f), "and that it is one");
	flk_detach(r);
	flk_detach(f);
}

static void
test_no_limiter(void)
{
	const char *path = fresh_path();

	begin_system();
	is(opening(path), -ENOENT, "no file");
	mkdir(path, 0700);
	is(opening(path), -FLK_NOTFILE, "a directory");
	rmdir(path);
	symlink("/dev/zero", path);
	is(opening(path), -FLK_SYMLINK, "a link");
	unlink(path);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	is(opening(path), -ENOENT, "an empty file");
	truncate(path, 1);
	is(opening(path), -FLK_NOTLIMITER, "another file");
	unlink(path);
}

/* ---- answers ---- */

static void
test_damage(void)
{
	const struct flk_request two = { .weight = 2, .limit = 2 };
	struct flk *f = fresh(2), *r;
	struct flk_taker *t = taker(f);
	struct flk_snapshot *s;
	struct flk_settings set;
	struct flk_event e;
	char why[4] = "why";

	begin_system();
	if (flk_attach(&r, flk_path(f), &reading) != 0 || flk_acquire(t, &two, NULL) != 0)
		tap_bail("no reader");
	is(flk_snapshot(r, &s), 0, "a permit is shown");
	free(s);
	taker_slot(t)->weight = 0;
	is(flk_snapshot(r, &s), -FLK_DAMAGED, "slots that contradict each other are damage");
	f->file.h->lock = 1;
	is(flk_snapshot(r, &s), -EAGAIN, "or a copy of two moments, if a taker stays inside");
	taker_slot(t)->weight = 2;
	is(flk_snapshot(r, &s), 0, "which need not show");
	free(s);
	f->file.h->lock = 0;
	f->file.h->damaged = 1;
	is(flk_snapshot(r, &s), -FLK_DAMAGED, "it is marked as damaged");
	is(flk_get(r, &set), -FLK_DAMAGED, "and has no settings");
	is(flk_history(r, 0, &e, 1), 0, "and no history");
	is(flk_verify(r), 0, "but is there");
	f->file.h->damaged = 0;
	is(flk_history(r, 0, &e, 1), 1, "when it is repaired it has one");
	stat_error = EIO;
	is(flk_verify(r), -EIO, "if it can't be looked at, that is said");
	begin_system();
	unlink(flk_path(f));
	is(flk_verify(r), -FLK_GONE, "without its name it is gone");
	is(flk_get(r, &set), -FLK_GONE, "with its settings");
	is(flk_history(r, 0, &e, 1), 0, "and its history");
	is(flk_check(r, why, 0), -EACCES, "it is not checked");
	is(why[0], 'w', "and nothing is written where there is no room");
	is(flk_check(r, why, 1), -EACCES, "where there is room for nothing");
	is(why[0], '\0', "nothing is said");
	is(flki_is_taker(r, 0, getpid()), 0, "a reader knows no taker");
	ok(!flk_holds(r, 0, 1, NULL), "and no permit");
	flk_detach(r);
	flk_taker_free(t);
	flk_detach(f);
}

/* ---- following ---- */

static struct flk *followed;

static void
pause_at_the_third(void)
{
	if (sleeps == 3)
		steer_pause(followed);
}

static void
remove_it(void)
{
	followed->file.h->dead = 1;
}

static void
damage_it(void)
{
	followed->file.h->damaged = 1;
}

static void
test_following(void)
{
	struct timespec until;
	struct flk *r;

	followed = fresh(1);
	begin_system();
	if (flk_attach(&r, flk_path(followed), &reading) != 0)
		tap_bail("no reader");
	until = flki_timespec(clock_ns);
	is(flk_follow(r, 0, &until), -ETIMEDOUT, "a follower whose deadline has come");
	is(sleeps, 0, "does not sleep");
	until = flki_timespec(clock_ns + 250 * MS);
	is(flk_follow(r, 0, &until), -ETIMEDOUT, "one whose deadline comes");
	is(sleeps, 3, "sleeps until then");
	begin_system();
	in_a_sleep = pause_at_the_third;
	is(flk_follow(r, 0, NULL), 0, "one that has none hears what comes");
	is(sleeps, 3, "when it is there");
	is(flk_follow(r, 0, NULL), 0, "what is there already");
	is(sleeps, 3, "it hears at once");
	in_a_sleep = remove_it;
	is(flk_follow(r, 1, NULL), -FLK_GONE, "that the limiter is removed, too");
	followed->file.h->dead = 0;
	in_a_sleep = damage_it;
	is(flk_follow(r, 1, NULL), -FLK_DAMAGED, "and that it is damaged");
	followed->file.h->damaged = 0;
	flk_detach(r);
	flk_detach(followed);
}

/* Its oldest events are overwritten: what there is, a reader has as a taker has it. */
static void
test_history(void)
{
	static struct flk_event theirs[FLK_HISTORY + 1], ours[FLK_HISTORY + 1];
	struct flk *f = fresh(1), *r;
	size_t i, n;

	begin_system();
	for (i = 0; i < FLK_HISTORY; i++)
		if ((i % 2 == 0 ? steer_pause(f) : steer_resume(f)) != 0)
			tap_bail("it can't be steered");
	if (flk_attach(&r, flk_path(f), &reading) != 0)
		tap_bail("no reader");
	n = flk_history(f, 0, theirs, FLK_HISTORY + 1);
	is(n, FLK_HISTORY, "a long history");
	is(flk_history(r, 0, ours, FLK_HISTORY + 1), n, "is read in all its length");
	is(memcmp(ours, theirs, n * sizeof(ours[0])), 0, "as it is");
	for (i = 0; i < EVENTS - FLK_HISTORY + 10; i++)
		if ((i % 2 == 0 ? steer_pause(f) : steer_resume(f)) != 0)
			tap_bail("it can't be steered");
	n = flk_history(f, 0, theirs, FLK_HISTORY + 1);
	is(flk_history(r, 0, ours, FLK_HISTORY + 1), n, "also when it was written over");
	is(memcmp(ours, theirs, n * sizeof(ours[0])), 0, "and begun again");
	flk_detach(r);
	flk_detach(f);
}

int
main(void)
{
	begin();
	test_opening();
	test_no_limiter();
	test_damage();
	test_following();
	test_history();
	return tap_done();
}
