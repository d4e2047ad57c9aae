/* SPDX-License-Identifier: ISC */
/*
 * space.c - disk space for a page of the file before the page is touched.
 */
#include "space.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <unistd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "cancel.h"
#include "layout.h"

/*
 * Some file systems can't reserve space, and some C libraries don't write zeros then.  One zero for
 * each page is enough.  It goes to the page's last byte, which is always zero (layout.h: role):
 * another process may have reserved the same page meanwhile, and may use it already.
 */
static int
write_zeros(int fd, off_t from, off_t to)
{
	off_t at;

	for (at = from / HEADER * HEADER + HEADER - 1; at < to; at += HEADER)
		while (pwrite(fd, "", 1, at) != 1)
			if (errno != EINTR)
				return -errno;
	return 0;
}

/* By SIGXFSZ the kernel ends a program that makes a file larger than its limit. */
static bool
is_beyond_limit(off_t to)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
	       (rlim_t)to > limit.rlim_cur;
}

int
flki_space_reserve(int fd, off_t from, off_t to)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	uint64_t all = UINT64_MAX, saved;
	struct stat sb;
	int error;

	if (is_beyond_limit(to) && (fstat(fd, &sb) == -1 || to > sb.st_size))
		return -EFBIG;
	/*
	 * A signal ends posix_fallocate() with EINTR and undoes it; a frequent signal would keep it
	 * from ever succeeding.  So signals are blocked until after it.  By system calls, because
	 * the C library's function does not restore the mask of the signals that it uses itself.
	 */
	syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &saved, sizeof(all));
	do
		error = posix_fallocate(fd, from, to - from);
	while (error == EINTR);
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, &saved, NULL, sizeof(saved));
	if (error == EOPNOTSUPP || error == EINVAL || error == ENOSYS)
		return write_zeros(fd, from, to);
	return -error;
}
