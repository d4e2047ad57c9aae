/* SPDX-License-Identifier: ISC */
/*
 * making.c - lib/create.c makes a limiter of a file that has none, and of no other file; and within
 * the size that a process may give to files.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>

#undef PATIENCE_MS
#define PATIENCE_MS 3 /* the library's, for another maker */
#include "bytelock.h"

#include "internal.h"
#include "create.c"

/* ---- what a file has ---- */

static int
file_of(const void *beginning, size_t n, off_t size)
{
	int fd = open(fresh_path(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, beginning, n) != (ssize_t)n || ftruncate(fd, size) == -1)
		tap_bail("no file");
	return fd;
}

static int
makes(const void *beginning, size_t n, off_t size, const struct flk_options *options)
{
	int fd = file_of(beginning, n, size), result;
	struct header h;

	result = flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, options);
	if (result == 0 && (pread(fd, &h, sizeof(h), 0) != sizeof(h) || !header_is_ours(&h) ||
			    atomic_load(&h.magic) != MAGIC))
		result = 1;
	if (result == 0 && flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, options) != 0)
		result = 2;
	close(fd);
	return result;
}

static struct header
unborn(void)
{
	struct header h;

	memset(&h, 0, sizeof(h));
	h.layout = LAYOUT;
	h.header_size = HEADER;
	h.slot_size = sizeof(struct slot);
	h.byte_order = __BYTE_ORDER__;
	return h;
}

static void
test_contents(void)
{
	static char junk[HEADER];
	struct header h = unborn();

	is(makes(junk, 0, 0, NULL), 0, "an empty file becomes a limiter");
	is(makes(junk, 0, HEADER, NULL), 0, "and a page of zeros");
	is(makes(junk, 0, FIRST_SIZE, NULL), 0, "or as many as a maker reserves");
	is(makes(junk, 0, FIRST_SIZE + 1, NULL), -FLK_NOTLIMITER, "no other number of zeros");
	is(makes(junk, 0, HEADER - 1, NULL), -FLK_NOTLIMITER, "or fewer");
	is(makes(&h, sizeof(h), FIRST_SIZE, NULL), 0, "what has all but the magic");
	is(makes(&h, 100, 100, NULL), -FLK_NOTLIMITER, "not if it ends behind that");
	h.slot_size = 0;
	is(makes(&h, sizeof(h), FIRST_SIZE, NULL), 0, "or what a maker had just begun with");
	h = unborn();
	h.layout = 0;
	is(makes(&h, sizeof(h), FIRST_SIZE, NULL), -FLK_NOTLIMITER, "by its layout");
	h = unborn();
	h.slot_size = 0;
	junk[HEADER - 1] = 1;
	memcpy(junk, &h, sizeof(h));
	is(makes(junk, HEADER, FIRST_SIZE, NULL), -FLK_NOTLIMITER, "and with zeros behind it");
	h = unborn();
	atomic_store(&h.magic, 1);
	is(makes(&h, sizeof(h), FIRST_SIZE, NULL), -FLK_NOTLIMITER,
	   "with another magic it is none");
}

static void
test_existing(void)
{
	const struct flk_options existing = { .existing = true };
	static char nothing[1];
	int fd;

	is(makes(nothing, 0, 0, &existing), -ENOENT, "who wants an existing limiter makes none");
	fd = file_of(nothing, 0, 0);
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, NULL), 0, "one that there is");
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, &existing), 0, "is right");
	close(fd);
}

/* ---- another maker ---- */

static unsigned asked;

static bool
ask_twice(void *context, pid_t pid)
{
	(void)pid;
	if (++asked == 2)
		flki_byte_unlock(*(int *)context, INIT_BYTE);
	return true;
}

static bool
give_up(void *context, pid_t pid)
{
	(void)context;
	(void)pid;
	asked++;
	return false;
}

static void
test_makers(void)
{
	struct flk_options options = { .stuck = give_up };
	const char *path = fresh_path();
	int other = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd == -1 || other == -1 || flki_create_lock(other) != 0)
		tap_bail("no lock");
	options.context = &other;
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, NULL), -FLK_STUCK,
	   "a maker that is stopped");
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, &options), -FLK_STUCK, "is waited for");
	is(asked, 1, "if the program wants that");
	options.stuck = ask_twice;
	asked = 0;
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, &options), 0, "until it is done");
	is(asked, 2, "and no longer");
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, &options), 0,
	   "where nobody is in the way");
	is(asked, 2, "nobody is asked");
	if (flki_byte_lock(other, F_RDLCK, INIT_BYTE) != 0)
		tap_bail("no lock");
	is(flki_create_in_place(fd, AT_FDCWD, FS_MEMORY, &options), -EBUSY, "a reader is no maker");
	close(other);
	close(fd);
}

/* ---- what is made can be used ---- */

static void
use(const char *path, const char *words)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	struct flk *f = attach(path);
	struct flk_taker *t = taker(f);

	is(flk_try(t, &one), 0, "%s", words);
	flk_taker_free(t);
	whole(f, words);
	flk_detach(f);
}

static void
test_use(void)
{
	const char *path = fresh_path();
	const uint32_t dead = 1;
	uint64_t identity;
	struct flk *f;
	int fd;

	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	use(path, "a limiter that was made of an empty file");
	unlink(path);
	close(fd);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (ftruncate(fd, HEADER) == -1)
		tap_bail("ftruncate");
	use(path, "of zeros");
	f = attach(path);
	identity = flk_identity(f);
	if (pwrite(fd, &dead, sizeof(dead), offsetof(struct header, dead)) != sizeof(dead))
		tap_bail("pwrite");
	use(path, "or in the place of one that was removed");
	flk_detach(f);
	f = attach(path);
	ok(flk_identity(f) != identity, "which is another");
	ok((fcntl(f->file.fd, F_GETFD) & FD_CLOEXEC) != 0, "no command inherits it");
	flk_detach(f);
	close(fd);
	unlink(path);
	if (symlink("/dev/shm", path) == -1)
		tap_bail("symlink");
	is(flk_attach(&f, path, NULL), -FLK_SYMLINK, "and no link leads to it");
}

/* ---- the size of files ---- */

/* In a child: 0, or what flk_attach() says; it dies of SIGXFSZ if the kernel has to stop it. */
static int
attach_within(const char *path, rlim_t most, bool uses_it)
{
	const struct flk_request one = { .weight = 1, .limit = 1 };
	const struct rlimit limit = { .rlim_cur = most, .rlim_max = RLIM_INFINITY };
	struct flk_event event;
	struct flk_taker *t;
	struct flk *f;
	pid_t pid = fork_child();
	int error;

	if (pid == 0) {
		signal(SIGXFSZ, SIG_DFL);
		if (setrlimit(RLIMIT_FSIZE, &limit) == -1)
			_exit(99);
		error = flk_attach(&f, path, NULL);
		if (error == 0 && uses_it) {
			error = flk_taker_new(&t, f);
			error = error != 0 ? error : flk_try(t, &one);
			if (error == 0 && flk_history(f, 0, &event, 1) != 1)
				error = -EIO;
		}
		_exit(-error & 0xff);
	}
	return reap_child(pid);
}

static void
test_size(void)
{
	const char *path = fresh_path();

	is(attach_within(path, FIRST_SIZE - 1, false), EFBIG << 8,
	   "a limiter that would be too large");
	is(access(path, F_OK), -1, "is not made");
	is(attach_within(path, FIRST_SIZE, false), 0, "one that is just so large is");
	is(attach_within(path, HEADER, true), 0,
	   "and is used, with its history, by a process that may write no more");
}

int
main(void)
{
	begin();
	test_contents();
	test_existing();
	test_makers();
	test_use();
	test_size();
	return tap_done();
}
