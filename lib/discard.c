/*
 * discard.c - the end of a file that is no use as a limiter: nothing in it can be asked who uses
 * it, but the kernel can.  A write lease is had only where no other description of the file is
 * open, in whatever container, under whatever user; while we have it, nobody gets another.
 */
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>
#include <sys/stat.h>

#include "cancel.h"
#include "make.h"
#include "place.h"

#define LOOKERS_MS 100 /* for those who only look */

/* A limiter of some version, maybe another boot's or not quite made yet; or an empty file. */
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
	/* Not by its zeros, which many files begin with. */
	return atomic_load(&h.magic) == 0 && header_is_ours(&h) ? 0 : -FLK_NOTLIMITER;
}

/* Who opens it meanwhile makes the kernel send a signal: one that does nothing by default. */
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
	struct place place;
	bool is_path = strchr(name, '/') != NULL;
	int dirfd = AT_FDCWD, fd, error;

	if (!is_path && (error = flki_place_open(&place, name, false, &dirfd)) != 0)
		return error;
	fd = openat(dirfd, name, O_RDWR | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd == -1) {
		error = errno == ELOOP                      ? -FLK_SYMLINK
			: errno == EWOULDBLOCK              ? -FLK_BUSY /* and has a lease on it */
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
