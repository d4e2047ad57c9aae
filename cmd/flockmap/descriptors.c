/* SPDX-License-Identifier: ISC */
#include "descriptors.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "explain.h"
#include "option.h"
#include "pidfd.h"
#include "say.h"

int
open_null(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDWR | O_CLOEXEC);
		if (fd == STDOUT_FILENO) {
			close(fd);
			fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
		}
	} while (fd != -1 && fd <= STDERR_FILENO);
	return fd;
}

bool
can_wait_for_commands(void)
{
	int fd = flki_pidfd_open(getpid());

	if (fd == -1)
		return false;
	close(fd);
	return true;
}

void
raise_files(struct rlimit *given)
{
	struct rlimit more;

	if (getrlimit(RLIMIT_NOFILE, given) == -1 || given->rlim_cur == given->rlim_max) {
		given->rlim_cur = 0;
		return;
	}
	more = *given;
	more.rlim_cur = more.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &more) == -1)
		given->rlim_cur = 0;
}

/* A call that no limit refuses is refused by a filter, or the kernel is too old for it. */
int
cannot_have(const char *what, int error)
{
	const char *remedy = remedy_for(error);

	if (error == EPERM || error == ENOSYS)
		remedy = ": let the container's filter of system calls allow it";
	say(NULL, "%s: %s%s", what, strerror(error), remedy);
	return OPTION_BAD;
}
