/* SPDX-License-Identifier: ISC */
/*
 * close_fd.h - closing descriptors that may be closed already, and pipes off stdio.
 */
#ifndef CLOSE_FD_H
#define CLOSE_FD_H

#include <errno.h>
#include <unistd.h>

#include "descriptor.h"

/* Closes it, if it is open, and forgets it. */
static inline void
close_fd(int *fd)
{
	if (*fd != -1)
		close(*fd);
	*fd = -1;
}

/* The same as flki_above_stdio() for both ends of a pipe: 0; or a negative errno, and both are closed. */
static inline int
pair_above_stdio(int ends[2])
{
	int error;

	ends[0] = flki_above_stdio(ends[0]);
	ends[1] = flki_above_stdio(ends[1]);
	if (ends[0] != -1 && ends[1] != -1)
		return 0;
	error = -errno;
	close_fd(&ends[0]);
	close_fd(&ends[1]);
	return error;
}

#endif
