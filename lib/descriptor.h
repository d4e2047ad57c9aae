/* SPDX-License-Identifier: ISC */
/*
 * descriptor.h - descriptors that stay clear of standard input, output and error.
 */
#ifndef FLKI_DESCRIPTOR_H
#define FLKI_DESCRIPTOR_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

/*
 * A program that runs with one of its three standard descriptors closed gets that number from its
 * next open(2).  A message to standard error would then be written to the file that was opened.
 * Takes a descriptor, or -1; returns it if it is above 2, else closes it and returns a duplicate
 * that is above 2 and close-on-exec.  -1: errno.
 */
static inline int
flki_above_stdio(int fd)
{
	int high, error;

	if (fd < 0 || fd > STDERR_FILENO)
		return fd;
	high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	error = errno;
	close(fd);
	errno = error;
	return high;
}

/* Closes it, if it is open, and forgets it. */
static inline void
flki_close(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* The same as flki_above_stdio() for both ends of a pipe: 0; or a negative errno, and both are closed. */
static inline int
flki_pair_above_stdio(int ends[2])
{
	int error;

	ends[0] = flki_above_stdio(ends[0]);
	ends[1] = flki_above_stdio(ends[1]);
	if (ends[0] != -1 && ends[1] != -1)
		return 0;
	error = -errno;
	flki_close(&ends[0]);
	flki_close(&ends[1]);
	return error;
}

#endif
