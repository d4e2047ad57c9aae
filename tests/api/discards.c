/* SPDX-License-Identifier: ISC */
/*
 * discards.c - which files flk_discard() takes for limiters that are of no use, and how long it waits for a
 * process that has such a file open.  The kernel's leases are our own.
 */
#include "../helpers/common.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

static int lease_error, refusals, naps, read_error;

static int
fake_fcntl(int fd, int what)
{
	if (fd < 0 || what != F_SETLEASE || refusals-- <= 0)
		return 0;
	errno = lease_error;
	return -1;
}

static ssize_t
fake_pread(int fd, void *to, size_t size, off_t at)
{
	if (read_error == 0)
		return pread(fd, to, size, at);
	errno = read_error;
	return -1;
}

#include "internal.h"
#define fcntl(fd, what, arg)    fake_fcntl(fd, what)
#define usleep(us)              (naps += (us) == 1000)
#define pread(fd, to, size, at) fake_pread(fd, to, size, at)
#include "discard.c"
#undef pread

/* A file with this beginning, and SIZE bytes long. */
static const char *
file_of(const struct header *h, size_t n, off_t size)
{
	const char *path = fresh_path();
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd == -1 || write(fd, h, n) != (ssize_t)n || ftruncate(fd, size) == -1)
		tap_bail("no file");
	close(fd);
	refusals = naps = 0;
	return path;
}

static int
discards(const struct header *h, size_t n, off_t size)
{
	const char *path = file_of(h, n, size);
	int error = flk_discard(path);

	if (access(path, F_OK) != (error == 0 ? -1 : 0))
		return 1;
	unlink(path);
	return error;
}

static void
test_files(void)
{
	struct header h = { .layout = LAYOUT, .header_size = HEADER };
	const size_t all = offsetof(struct header, boot);

	h.slot_size = sizeof(struct slot);
	h.byte_order = __BYTE_ORDER__;
	is(discards(&h, 0, 0), 0, "an empty file");
	is(discards(&h, all, HEADER), 0, "a limiter that was not quite made");
	is(discards(&h, all, (off_t)all), 0, "of which there is hardly more");
	is(discards(&h, all, (off_t)all - 1), -FLK_NOTLIMITER, "but not less");
	h.slot_size++;
	is(discards(&h, all, HEADER), -FLK_NOTLIMITER, "zeros, and then something else");
	is(discards(&h, 0, HEADER), -FLK_NOTLIMITER, "zeros alone");
	atomic_store(&h.magic, MAGIC);
	is(discards(&h, all, HEADER), 0, "a limiter of another version");
	atomic_store(&h.magic, MAGIC + 1);
	is(discards(&h, all, HEADER), -FLK_NOTLIMITER, "and no limiter at all");
	atomic_store(&h.magic, MAGIC);
	read_error = EIO;
	is(discards(&h, all, HEADER), -EIO, "what can't be read stays");
	read_error = 0;
}

static void
test_others(void)
{
	const char *path = fresh_path();

	is(flk_discard(path), -ENOENT, "what is not there");
	if (mkdir(path, 0700) == -1)
		tap_bail("mkdir");
	is(flk_discard(path), -FLK_NOTFILE, "a directory");
	rmdir(path);
	if (symlink("/dev/null", path) == -1)
		tap_bail("symlink");
	is(flk_discard(path), -FLK_SYMLINK, "a link");
	unlink(path);
	if (mkfifo(path, 0600) == -1)
		tap_bail("mkfifo");
	is(flk_discard(path), -FLK_NOTFILE, "a pipe");
	unlink(path);
}

static int
with_lease(int error, int times)
{
	struct header h = { .layout = 0 };
	const char *path = file_of(&h, 0, 0);
	int result;

	lease_error = error;
	refusals = times;
	result = flk_discard(path);
	unlink(path);
	return result;
}

static void
test_leases(void)
{
	is(with_lease(EAGAIN, 3), 0, "a process that only looks has closed it soon");
	is(naps, 3, "for which it waits");
	is(with_lease(EBUSY, 1), 0, "whatever that is called");
	is(with_lease(EAGAIN, 100000), -FLK_BUSY, "one that has it open for long uses it");
	is(naps, 100, "a tenth of a second");
	is(with_lease(EINVAL, 1), -ENOTSUP, "a file system without leases");
	is(with_lease(ENOLCK, 1), -ENOTSUP, "or a kernel");
	is(with_lease(EACCES, 1), -EACCES, "or one for others");
}

int
main(void)
{
	begin();
	test_files();
	test_others();
	test_leases();
	return tap_done();
}
