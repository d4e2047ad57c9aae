/* SPDX-License-Identifier: ISC */
/*
 * timens.c - time namespaces, in which CLOCK_MONOTONIC is ahead of the machine's, or behind it, by
 * as much as the namespace's maker chose.
 */
#include "internal.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "cancel.h"
#include "clock.h"

/*
 * The file has the offsets of the namespace that this process's children are in.  That is its own
 * namespace too, unless the process has called unshare(2) itself.
 */
static int64_t
ask(void)
{
	int cancel FLKI_RESTORED = flki_no_cancel();
	char text[256];
	long long s, ns;
	int fd = open("/proc/self/timens_offsets", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd != -1 ? read(fd, text, sizeof(text) - 1) : -1;

	if (fd != -1)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	if (sscanf(text, "monotonic %lld %lld", &s, &ns) != 2 || s > INT32_MAX || s < -INT32_MAX)
		return 0;
	return (int64_t)s * (int64_t)SECOND + (int64_t)ns;
}

int64_t
flki_clock_ahead(struct flk *f)
{
	int64_t ahead = atomic_load(&f->ahead_ns);

	if (ahead == INT64_MIN)
		atomic_store(&f->ahead_ns, ahead = ask());
	return ahead;
}
