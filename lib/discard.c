/* SPDX-License-Identifier: ISC */
/*
 * discard.c - removes a file that is of no use as a limiter.  What it contains can't say whether a
 * process uses it, but the kernel can: it grants a write lease only if no other description of the
 * file is open, in any container and for any user, and while we have the lease, no process gets
 * another.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "cancel.h"
#include "directory.h"

#define LOOKERS_MS 100 /* how long a process may have it open that only looks */

/* 0 for a limiter of any version, of any boot, or not quite made yet; and for an empty file. */
static int
was_limiter(int fd)
{
	struct header h = { .magic = 0 };
	size_t size = offsetof(struct header, boot);
	ssize_t n = pread(fd, &h, size, 0);

	if (n < 0)
		return -errno;
	if (n == 0)
		return 0;
	if ((size_t)n < size)
		return -FLK_NOTLIMITER;
	if (atomic_load(&h.magic) == MAGIC)
		return 0;
	/* Zeros alone are not enough, because many files begin with zeros. */
	return atomic_load(&h.magic) == 0 && header_is_ours(&h) ? 0 : -FLK_NOTLIMITER;
}

/* A process that opens it meanwhile makes the kernel signal us: by a signal that does nothing. */
static int
lease(int fd)
{
	int ms;

	if (fcntl(fd, F_SETSIG, SIGURG) == -1)
		return -errno;
	for (ms = 0; fcntl(fd, F_SETLEASE, F_WRLCK) == -1; ms++) {
		if (errno == EINVAL || errno == ENOLCK)
			return -ENOTSUP;
		if (errno != EAGAIN && errno != EBUSY)
			return -errno;
		if (ms >= LOOKERS_MS)
			return -FLK_BUSY;
		usleep(1000);
	}
	return 0;
}

static int
discard(int fd, int dirfd, const char *base)
{
	struct stat sb;
	int error;

	if (fstat(fd, &sb) == -1)
		return -errno;
	if ((error = flki_file_trusted(&sb)) != 0 || (error = was_limiter(fd)) != 0 ||
	    (error = lease(fd)) != 0)
		return error;
	/* It may have become a limiter, and been removed, before we had the lease. */
	if ((error = flki_file_is_named(fd, dirfd, base)) <= 0)
		return error < 0 ? error : -ENOENT;
	return unlinkat(dirfd, base, 0) == -1 ? -errno : 0;
}

int
flk_discard(const char *name)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	struct directory directory;
	bool is_path = strchr(name, '/') != NULL;
	int dirfd = AT_FDCWD, fd, error;

	if (!is_path && (error = flki_directory_open(&directory, name, false, &dirfd)) != 0)
		return error;
	fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1) {
		error = errno == ELOOP                      ? -FLK_SYMLINK
			: errno == EWOULDBLOCK              ? -FLK_BUSY /* another has a lease */
			: errno == EISDIR || errno == ENXIO ? -FLK_NOTFILE
							    : -errno;
	} else {
		error = discard(fd, dirfd, name);
		close(fd); /* and with it the lease */
	}
	if (dirfd != AT_FDCWD)
		close(dirfd);
	return error;
}
