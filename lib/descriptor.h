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

#endif
